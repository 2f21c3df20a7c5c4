import type { Yielder } from '../../async/yielder.js';
import { newlineOf, skipLines } from './line-index.js';
import type { TextCodec, TextEncoding } from './text-encoding.js';

/** A file's bytes and their encoding. All positions are byte offsets, never positions in decoded text. */
export interface TextBytes {
  readonly bytes: Buffer;
  readonly codec: TextCodec;
  readonly encoding: TextEncoding;
}

/** How many bytes are searched before the event loop may run. */
const windowSize = 1 << 20;

/** Searching a longer needle can be slow in a hostile text: its start is searched, the rest compared. */
const maxAnchor = 64;

/** Where `needle` begins, overlapping hits included, at most `limit` of them. */
export async function findOffsets(
  text: TextBytes,
  needle: Uint8Array,
  { yielder, limit = Number.POSITIVE_INFINITY }: { yielder: Yielder; limit?: number },
): Promise<number[]> {
  const { bytes, codec } = text;
  const anchor = needle.subarray(0, maxAnchor);
  const hits: number[] = [];
  if (anchor.length === 0) return hits;
  for (let start = 0; start < bytes.length; start += windowSize) {
    const window = bytes.subarray(start, start + windowSize + anchor.length - 1);
    for (let at = window.indexOf(anchor); at !== -1; at = window.indexOf(anchor, at + 1)) {
      if (yielder.shouldYield) await yielder.yield();
      const offset = start + at;
      if (!startsAt(bytes, needle, offset) || !isAligned(text, offset)) continue;
      hits.push(offset);
      if (hits.length >= limit) return hits;
      at += codec.unit - 1;
    }
    if (yielder.shouldYield) await yielder.yield();
  }
  return hits;
}

export function startsAt(bytes: Buffer, needle: Uint8Array, offset: number): boolean {
  const end = offset + needle.length;
  return offset >= 0 && end <= bytes.length && bytes.compare(needle, 0, needle.length, offset, end) === 0;
}

/** Whether a character begins at `offset`. A line feed is never part of a character, so the line decides. */
function isAligned(text: TextBytes, offset: number): boolean {
  const { bytes, codec } = text;
  if (offset % codec.unit !== 0) return false;
  if (!codec.ambiguous || offset === 0 || (bytes[offset - 1] ?? 0) < 0x30) return true;
  const start = Math.max(bytes.lastIndexOf(0x0a, offset - 1) + 1, offset - 4096);
  const end = Math.min(bytes.length, offset + 4);
  const whole = codec.decode(bytes.subarray(start, end));
  return whole === codec.decode(bytes.subarray(start, offset)) + codec.decode(bytes.subarray(offset, end));
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** The code unit at `offset` when it is a line break character, else 0. */
function breakUnit({ bytes, codec: { unit } }: TextBytes, offset: number): number {
  if (offset < 0 || offset + unit > bytes.length) return 0;
  const value = unit === 1 ? bytes[offset] : wideUnit(bytes, offset, unit);
  return value === lineFeed || value === carriageReturn ? value : 0;
}

/** Line breaks are below 256, so one byte decides and the others must be zero, in either byte order. */
function wideUnit(bytes: Buffer, offset: number, unit: number): number {
  const first = bytes[offset] ?? 0;
  const last = bytes[offset + unit - 1] ?? 0;
  for (let index = 1; index < unit - 1; index++) if (bytes[offset + index] !== 0) return 0;
  return first === 0 ? last : last === 0 ? first : 0;
}

/** The length in bytes of the line break (CRLF, LF or CR) at `offset`; 0 when there is none. */
export function breakAfter(text: TextBytes, offset: number): number {
  const { unit } = text.codec;
  const found = breakUnit(text, offset);
  if (found === 0) return 0;
  return found === carriageReturn && breakUnit(text, offset + unit) === lineFeed ? 2 * unit : unit;
}

/** The length in bytes of the line break that ends at `offset`; 0 when there is none. */
export function breakBefore(text: TextBytes, offset: number): number {
  const { unit } = text.codec;
  const found = breakUnit(text, offset - unit);
  if (found === 0) return 0;
  return found === lineFeed && breakUnit(text, offset - 2 * unit) === carriageReturn ? 2 * unit : unit;
}

/** Where the line around `offset` begins: after a line feed, or at the start. */
export function lineStart(text: TextBytes, offset: number): number {
  const { unit } = text.codec;
  for (let at = offset - 1; at >= 0; at--) {
    at = text.bytes.lastIndexOf(lineFeed, at);
    if (at === -1) return 0;
    const begin = at - (at % unit);
    if (breakUnit(text, begin) === lineFeed && begin + unit <= offset) return begin + unit;
    at = begin;
  }
  return 0;
}

/** The start of the line that is `count` lines above the one that starts at `offset`, or of the first line. */
export function linesUp(text: TextBytes, offset: number, count: number): number {
  let start = offset;
  for (let line = 0; line < count && start > 0; line++) start = lineStart(text, start - breakBefore(text, start));
  return start;
}

/** Where the content of the line around `offset` ends: before its line break, or at the end. */
export function lineEnd(text: TextBytes, offset: number): number {
  const { bytes, codec } = text;
  for (let at = bytes.indexOf(lineFeed, offset); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) {
    const begin = at - (at % codec.unit);
    if (begin < offset || breakUnit(text, begin) !== lineFeed) continue;
    return begin > offset && breakUnit(text, begin - codec.unit) === carriageReturn ? begin - codec.unit : begin;
  }
  return bytes.length;
}

/** Line feeds before each block of a buffer, counted once: `npm run bench -- --only 'edit every one'`. */
const counted = new WeakMap<Buffer, number[]>();
const blockSize = 1 << 16;

/** The 1-based number of the line around `offset`. */
export async function lineNumberAt(text: TextBytes, offset: number, yielder: Yielder): Promise<number> {
  const counts = counted.get(text.bytes) ?? [0];
  counted.set(text.bytes, counts);
  const lineFeedsBetween = (start: number, end: number) => lineFeedsIn(text, text.bytes.subarray(start, end));
  const block = Math.floor(offset / blockSize);
  while (counts.length <= block) {
    const end = counts.length * blockSize;
    counts.push((counts.at(-1) ?? 0) + lineFeedsBetween(end - blockSize, end));
    if (yielder.shouldYield) await yielder.yield();
  }
  return (counts[block] ?? 0) + lineFeedsBetween(block * blockSize, offset) + 1;
}

/** How many line feeds are in `bytes`, which have the encoding of `text`. */
export function lineFeedsIn({ encoding }: TextBytes, bytes: Buffer): number {
  return skipLines(bytes, newlineOf(encoding.name), Number.POSITIVE_INFINITY).count;
}
