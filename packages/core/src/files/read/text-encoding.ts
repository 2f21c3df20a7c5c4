import { isAscii, isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { asBuffer } from '../open-file.js';

/** How the bytes of a text file become characters and back. */
export interface TextEncoding {
  /** `utf-8`, `utf-16le`, `utf-16be`, `utf-32le`, `utf-32be`, or the name of a legacy encoding such as `gb18030`. */
  name: string;
  /** The byte order mark the file starts with; empty when there is none. */
  bom: Uint8Array;
}

const none = new Uint8Array();
const utf8: TextEncoding = { name: 'utf-8', bom: none };

const marks: readonly [name: string, bytes: readonly number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  // UTF-32 first: its little-endian mark begins with that of UTF-16.
  ['utf-32le', [0xff, 0xfe, 0, 0]],
  ['utf-32be', [0, 0, 0xfe, 0xff]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/**
 * The encoding of a text, given all of its bytes or its beginning; `undefined` when they are not text. A mark decides,
 * then strict UTF-8, then the shape of UTF-16 without a mark, then statistics over at most 32 KB.
 */
export async function detectEncoding(bytes: Uint8Array): Promise<TextEncoding | undefined> {
  const plain = plainEncoding(bytes);
  if (plain !== 'legacy') return plain;
  const sample = legacySample(bytes);
  return isDamagedUtf8(sample) ? utf8 : { name: await guessLegacy(sample), bom: none };
}

/** Whether bytes are text in any encoding; needs no statistics. */
export function isText(bytes: Uint8Array): boolean {
  return plainEncoding(bytes) !== undefined;
}

function plainEncoding(bytes: Uint8Array): TextEncoding | 'legacy' | undefined {
  const mark = marks.find(([, pattern]) => pattern.every((byte, index) => bytes[index] === byte));
  if (mark !== undefined) return { name: mark[0], bom: Uint8Array.from(mark[1]) };
  const start = bytes.subarray(0, 8192);
  if (start.includes(0)) return utf16WithoutMark(start) ?? (isTextBeforeHole(start) ? utf8 : undefined);
  if (isUtf8(bytes.subarray(0, bytes.length - unfinishedLength(bytes)))) return utf8;
  return looksBinary(legacySample(bytes)) ? undefined : 'legacy';
}

/** How many bytes at the end belong to a cut UTF-8 character. */
function unfinishedLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

/** Text in UTF-16 has its NUL bytes on one side of each pair, nearly never on the other. */
function utf16WithoutMark(bytes: Uint8Array): TextEncoding | undefined {
  const pairs = Math.min(bytes.length, 4096) >> 1;
  let [even, odd] = [0, 0];
  for (let pair = 0; pair < pairs; pair++) {
    if (bytes[pair * 2] === 0) even++;
    if (bytes[pair * 2 + 1] === 0) odd++;
  }
  const name = even === 0 && odd > pairs * 0.4 ? 'utf-16le' : odd === 0 && even > pairs * 0.4 ? 'utf-16be' : undefined;
  return name === undefined || bytes.length % 2 === 1 ? undefined : { name, bom: none };
}

/** Text followed only by NUL: a file that was extended beyond what was written to it. */
function isTextBeforeHole(bytes: Uint8Array): boolean {
  const hole = bytes.indexOf(0);
  const text = bytes.subarray(0, hole);
  return hole > 0 && isUtf8(text) && !looksBinary(text) && bytes.subarray(hole).every((byte) => byte === 0);
}

const sampleSize = 32 * 1024;

/** The part to analyse: from the first line with a byte that is not ASCII. */
function legacySample(bytes: Uint8Array): Uint8Array {
  const first = firstBeyondAscii(bytes);
  const lineStart = bytes.lastIndexOf(0x0a, first) + 1;
  const start = Math.max(lineStart, first - sampleSize / 2, 0);
  return bytes.subarray(start, start + sampleSize);
}

function firstBeyondAscii(bytes: Uint8Array): number {
  let block = 0;
  while (block < bytes.length && isAscii(bytes.subarray(block, block + sampleSize))) block += sampleSize;
  return block + bytes.subarray(block, block + sampleSize).findIndex((byte) => byte >= 0x80);
}

/** Control characters other than white space, backspace and escape, in more than a twentieth of the bytes. */
function looksBinary(bytes: Uint8Array): boolean {
  const controls = bytes.reduce(
    (count, byte) => count + (byte < 8 || (byte > 13 && byte < 32 && byte !== 27) ? 1 : 0),
    0,
  );
  return controls > bytes.length / 20;
}

/** Text that is UTF-8 apart from a few damaged bytes; in any other encoding hardly a character would survive. */
function isDamagedUtf8(bytes: Uint8Array): boolean {
  const text = asBuffer(bytes).toString('utf8');
  const damaged = text.match(/\uFFFD+/g)?.length ?? 0;
  const whole = text.match(/[\u0080-\uFFFC]/g)?.length ?? 0;
  return whole > damaged * 4;
}

/** Statistics, and a decoding that makes sense. Each step takes some milliseconds, so the event loop runs in between. */
async function guessLegacy(sample: Uint8Array): Promise<string> {
  const [{ default: chardet }, { default: iconv }] = await Promise.all([import('chardet'), import('iconv-lite')]);
  await setImmediate();
  const candidates = chardet
    .analyse(sample)
    .map(({ name }) => name.toLowerCase())
    .filter((name) => !/^(?:utf|ascii)/.test(name) && iconv.encodingExists(name));
  for (const name of candidates) {
    await setImmediate();
    if (isPlausible(iconv.decode(asBuffer(sample), name))) return name === 'iso-8859-1' ? 'windows-1252' : name;
  }
  return 'windows-1252';
}

/**
 * A few damaged bytes are forgiven. Other multi-byte text, read as Shift_JIS, falls apart into the half-width syllables
 * that hardly anybody writes.
 */
function isPlausible(text: string): boolean {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const others = count(/[\u0080-\uFF60]/g);
  // One more may come from the cut at the end of the sample.
  return count(/\uFFFD/g) <= others / 100 + 1 && count(/[\uFF61-\uFF9F]/g) <= others;
}

export interface TextCodec {
  /** Bytes of the smallest code unit: 2 for UTF-16, 4 for UTF-32, otherwise 1. */
  readonly unit: 1 | 2 | 4;
  /** True when a character's later bytes can look like another character's first: GBK, Big5, Shift_JIS … */
  readonly ambiguous: boolean;
  /** `undefined` when the encoding lacks one of the characters. */
  encode(text: string): Buffer | undefined;
  decode(bytes: Uint8Array): string;
}

/** The codec for a detected encoding, ready for use without waiting. */
export async function codecFor({ name }: TextEncoding): Promise<TextCodec> {
  if (name === 'utf-8' || name === 'utf-16le') {
    const [node, unit] = name === 'utf-8' ? (['utf8', 1] as const) : (['utf16le', 2] as const);
    return {
      unit,
      ambiguous: false,
      encode: (text) => {
        const bytes = Buffer.from(text, node);
        // In UTF-8 a lone surrogate becomes U+FFFD, whose bytes are found faster than a surrogate in the text.
        if (unit === 1 && !bytes.includes(replacement)) return bytes;
        return hasHalfPair(text) ? undefined : bytes;
      },
      decode: (bytes) => asBuffer(bytes).toString(node),
    };
  }
  const iconv = (await import('iconv-lite')).default;
  const decode = (bytes: Uint8Array) => iconv.decode(asBuffer(bytes), name, { stripBOM: false });
  return {
    unit: name.startsWith('utf-16') ? 2 : name.startsWith('utf-32') ? 4 : 1,
    ambiguous: /^(?:gb|big5|cp9|euc|shift|sjis|windows-31j|iso-2022|ks_c)/i.test(name),
    encode(text) {
      const bytes = iconv.encode(text, name, { addBOM: false });
      return hasHalfPair(text) || decode(bytes) !== text ? undefined : bytes;
    },
    decode,
  };
}

const replacement = Buffer.from('\uFFFD');

const hasHalfPair = (text: string) => /\p{Surrogate}/u.test(text);
