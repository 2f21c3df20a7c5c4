import { isAscii } from 'node:buffer';
import { type ReadableFile, readFully } from '../open-file.js';
import { countLines, lineIndexOf, newlineOf, skipLines } from './line-index.js';
import { codecFor, detectEncoding, type TextEncoding } from './text-encoding.js';

/** Which lines are wanted, and how many characters at most. */
export interface TextRange {
  /** The first line, counted from 0. */
  offset: number;
  limit: number;
  maxChars: number;
}

export interface TextSlice {
  /** Exactly as in the file, line endings included, decoded. */
  text: string;
  /** The first line shown and the one after the last, counted from 0. */
  first: number;
  next: number;
  /** Lines in the file; unknown for a large file that was not read to its end. */
  total: number | undefined;
  /** The bytes of the whole file, when the slice shows all of it. */
  whole?: Buffer;
  /** Something in the range is not shown as it is: a line too long for the budget, or binary data. */
  isCut: boolean;
  /** The budget of characters ended the slice before the limit of lines did. */
  isShortened: boolean;
}

export type TextReading = { type: 'text'; slice: TextSlice } | { type: 'binary' } | { type: 'past-end'; total: number };

/** Reads a range of lines in memory bounded by the budget. `head` are the bytes that `readAt` returns for the start. */
export async function readText(
  file: ReadableFile,
  head: Buffer,
  range: TextRange,
  signal: AbortSignal,
): Promise<TextReading> {
  const encoding = await detectEncoding(head);
  if (encoding === undefined) return { type: 'binary' };
  const source: Source = { file, head, encoding, isAllInHead: file.stat.size <= BigInt(head.length) };
  const { start, total } = await findStart(source, range.offset, signal);
  if (start === undefined && range.offset > 0) return { type: 'past-end', total: total ?? 0 };
  const piece = await takeLines(await readBody(source, start ?? 0, range.maxChars), range);
  const next = range.offset + piece.lines;
  const isWhole = range.offset === 0 && source.isAllInHead && next === total && !piece.isCut;
  return { type: 'text', slice: { ...piece, first: range.offset, next, total, ...(isWhole && { whole: head }) } };
}

// Counting these lines takes a few milliseconds; the total of a larger file stays unknown.
const maxCountedSize = 4 * 1024 * 1024;
// Kernel files have no size; this much of them is read.
const maxUnsized = 4 * 1024 * 1024;

interface Source {
  file: ReadableFile;
  head: Buffer;
  encoding: TextEncoding;
  /** The head is the whole file. */
  isAllInHead: boolean;
}

/** Bytes for `maxChars` characters and one more: as many bytes when they are ASCII, four times as many otherwise. */
export async function readAt({ fd, stat }: ReadableFile, position: number, maxChars: number): Promise<Buffer> {
  const size = Number(stat.size);
  if (size === 0) return readFully(fd, Buffer.allocUnsafe(maxUnsized), 0, maxUnsized);
  const read = (length: number) => readFully(fd, Buffer.allocUnsafe(length), position, length);
  const bytes = await read(Math.min(maxChars + 1, size - position));
  const isEnough = position + bytes.length === size || (isAscii(bytes) && !bytes.includes(0));
  return isEnough ? bytes : read(Math.min((maxChars + 1) * bytesPerCharAtMost, size - position));
}

// GB18030 and UTF-32 use up to four bytes for a UTF-16 unit.
const bytesPerCharAtMost = 4;

interface Body {
  bytes: Buffer;
  encoding: TextEncoding;
}

/** The bytes from `start` on, without the mark. */
async function readBody({ file, head, encoding, isAllInHead }: Source, start: number, maxChars: number): Promise<Body> {
  if (start === 0) return { bytes: head.subarray(encoding.bom.length), encoding };
  if (isAllInHead) return { bytes: head.subarray(start), encoding };
  const bytes = await readAt(file, start, maxChars);
  // A legacy encoding shows only where the text stops being ASCII.
  return { bytes, encoding: isAscii(head) ? ((await detectEncoding(bytes)) ?? encoding) : encoding };
}

async function findStart(source: Source, offset: number, signal: AbortSignal) {
  const { file, head, encoding } = source;
  if (source.isAllInHead) {
    const newline = newlineOf(encoding.name);
    const total = countLines(head.subarray(encoding.bom.length), newline);
    const end = offset === 0 ? 0 : skipLines(head, newline, offset).end;
    return { start: offset < total ? end : undefined, total };
  }
  const index = lineIndexOf(file, encoding.name);
  if (file.stat.size <= BigInt(maxCountedSize)) await index.count(file.fd, signal);
  const start = await index.find(file.fd, offset, signal);
  return { start, total: index.totalLines };
}

interface Piece {
  text: string;
  lines: number;
  isCut: boolean;
  isShortened: boolean;
}

/** As many of the first lines of `bytes` as the limits allow. */
async function takeLines({ bytes, encoding }: Body, { limit, maxChars }: TextRange): Promise<Piece> {
  const { count, end } = skipLines(bytes, newlineOf(encoding.name), limit);
  const text = (await codecFor(encoding)).decode(bytes.subarray(0, end));
  if (text.length <= maxChars) {
    const lines = count + (end === undefined && !text.endsWith('\n') && text !== '' ? 1 : 0);
    return { ...show(text), lines, isShortened: false };
  }
  const lastLineEnd = text.lastIndexOf('\n', maxChars - 1) + 1;
  if (lastLineEnd > 0) {
    const kept = text.slice(0, lastLineEnd);
    return { ...show(kept), lines: kept.split('\n').length - 1, isShortened: true };
  }
  const marker = `… [line cut after ${maxChars} characters]\n`;
  return { text: show(cleanCut(text, maxChars)).text + marker, lines: 1, isCut: true, isShortened: true };
}

/** The first `length` characters, less when that would split a surrogate pair or an escape sequence. */
function cleanCut(text: string, length: number): string {
  const cut = text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
  const escape = cut.lastIndexOf('\u001B');
  const isUnfinished = escape !== -1 && /^.(?:\[[0-9;?]{0,32})?$/.test(cut.slice(escape));
  return isUnfinished ? cut.slice(0, escape) : cut;
}

/** Replaces lines with NUL characters, which are binary data, and lone surrogates, which a provider rejects. */
function show(text: string): { text: string; isCut: boolean } {
  const hasHalves = /[\uD800-\uDFFF]/.test(text) && /\p{Surrogate}/u.test(text);
  if (!hasHalves && !text.includes('\0')) return { text, isCut: false };
  const shown = text.replace(/\p{Surrogate}/gu, '\uFFFD').replace(/^.*\0.*$/gm, '[binary data, not shown]');
  return { text: shown, isCut: true };
}
