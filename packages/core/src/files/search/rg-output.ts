import type { BytePath } from '../byte-path.js';

/** A line that ripgrep printed: a match, or context of one. */
export interface RgLine {
  path: BytePath;
  /** From 1. */
  number: number;
  /** A match, or context of one. */
  isMatch: boolean;
  /** Where the first match starts, in bytes from 1; 0 for context, and for an empty match at the end of a file. */
  column: number;
  /** Where the line starts in the text, in bytes. */
  offset: number;
  /** Without its line end; only the beginning of a line longer than `maxColumns`. */
  text: Buffer;
}

/** Lines longer than this are printed in part. */
export const maxColumns = 1000;

/** Flags that make ripgrep print what `RgOutput` reads: fields that end in NUL (match) or SOH (context), names in any bytes. */
export const outputFlags = [
  '--no-heading',
  '--with-filename',
  '--line-number',
  '--column',
  '--byte-offset',
  '--null',
  '--color=never',
  `--max-columns=${maxColumns}`,
  '--max-columns-preview',
  '--no-context-separator',
  '--field-match-separator=\\x00',
  '--field-context-separator=\\x01',
];

/** The note of files whose lines are not printed. */
export const binaryMatches = 'binary files that match';

/** The rest of a longer record is dropped: a preview counts grapheme clusters, which can have any size. */
const maxRecord = 64 << 10;

// Printed without a NUL in place of, or after, the lines of a file with NUL bytes in it.
const binaryMessage =
  /^([^\0]*?): (?:binary file matches|WARNING: stopped searching binary file after match) \(found "\\0" byte around offset \d+\)\n/;

/** Parses ripgrep's output as it comes, in memory bounded by the longest printed line. */
export class RgOutput {
  /** Nothing was understood so far. */
  isEmpty = true;
  /** Something came that ripgrep does not print. */
  isGarbled = false;
  readonly #onLine: (line: RgLine) => void;
  readonly #onBinary: (path: BytePath) => void;
  #rest: Buffer = Buffer.alloc(0);
  #isSkipping = false;

  constructor(onLine: (line: RgLine) => void, onBinary: (path: BytePath) => void) {
    this.#onLine = onLine;
    this.#onBinary = onBinary;
  }

  push(chunk: Buffer): void {
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    if (this.#isSkipping) {
      const end = data.indexOf(lineFeed);
      if (end < 0) return;
      this.#isSkipping = false;
      data = data.subarray(end + 1);
    }
    let start = 0;
    for (let next = this.#read(data, start); next !== undefined; next = this.#read(data, start)) start = next;
    this.#rest = Buffer.from(data.subarray(start));
    if (this.#rest.length > maxRecord) this.#dropRest();
  }

  /** At the end, only messages can be left. */
  end(): void {
    if (this.#withoutMessages(this.#rest.toString('latin1')) !== '') this.isGarbled = !this.isEmpty;
    this.#rest = Buffer.alloc(0);
  }

  /** Reads one record and returns where the next one starts; `undefined` when it is not complete yet. */
  #read(data: Buffer, start: number): number | undefined {
    const pathEnd = data.indexOf(nul, start);
    const textEnd = pathEnd < 0 ? -1 : data.indexOf(lineFeed, pathEnd);
    if (textEnd < 0) return undefined;
    this.isEmpty = false;
    const path = this.#withoutMessages(data.toString('latin1', start, pathEnd));
    const number = readField(data, pathEnd + 1);
    if (number.value === 0) this.isGarbled = true;
    const isMatch = data[number.end] === nul;
    const second = readField(data, number.end + 1);
    // Ripgrep leaves out the column of an empty match at the end of a file. A line that it prints has no NUL in it.
    const third = isMatch ? readField(data, second.end + 1) : undefined;
    const hasColumn = third !== undefined && data[third.end] === nul;
    const [column, offset] = hasColumn ? [second.value, third] : [0, second];
    const text = data.subarray(offset.end + 1, textEnd);
    this.#onLine({ path, number: number.value, isMatch, column, offset: offset.value, text });
    return textEnd + 1;
  }

  #withoutMessages(text: string): BytePath {
    let rest = text;
    for (let found = binaryMessage.exec(rest); found !== null; found = binaryMessage.exec(rest)) {
      this.isEmpty = false;
      this.#onBinary(found[1] ?? '');
      rest = rest.slice(found[0].length);
    }
    return rest;
  }

  #dropRest(): void {
    this.#read(Buffer.concat([this.#rest, Buffer.from('\n')]), 0);
    this.#rest = Buffer.alloc(0);
    this.#isSkipping = true;
  }
}

const nul = 0;
const lineFeed = 10;
const zero = 48;

/** Digits, and where they end. */
function readField(data: Buffer, start: number): { value: number; end: number } {
  let [value, end] = [0, start];
  for (let digit = (data[end] ?? 0) - zero; digit >= 0 && digit <= 9; digit = (data[++end] ?? 0) - zero)
    value = value * 10 + digit;
  return { value, end };
}
