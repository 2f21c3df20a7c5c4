import type { BytePath } from './byte-path.js';

/** A line that ripgrep printed: a match, or context of one. */
export interface RgLine {
  path: BytePath;
  /** From 1. */
  number: number;
  /** A match, or context of one. */
  isMatch: boolean;
  /** Where the first match starts, in bytes from 1; 0 for context. */
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

/** More of one line than this is dropped: a preview counts what people see as characters, and those can be any size. */
const maxRecord = 64 << 10;

// Printed without a NUL in place of, or after, the lines of a file with NUL bytes in it.
const binaryMessage =
  /^([^\0]*?): (?:binary file matches|WARNING: stopped searching binary file after match) \(found "\\0" byte around offset \d+\)\n/;

/** Reads ripgrep's output as it comes, in memory bounded by the longest printed line. */
export class RgOutput {
  /** Nothing that could be understood has come. */
  isEmpty = true;
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

  /** What is left at the end can only be messages. */
  end(): void {
    this.#withoutMessages(this.#rest.toString('latin1'));
    this.#rest = Buffer.alloc(0);
  }

  /** Reads one record and returns where the next one starts; `undefined` when it is not complete yet. */
  #read(data: Buffer, start: number): number | undefined {
    const pathEnd = data.indexOf(nul, start);
    if (pathEnd < 0) return undefined;
    const fields: number[] = [];
    let at = pathEnd + 1;
    let wanted = 3;
    while (fields.length < wanted) {
      const end = digitsEnd(data, at);
      if (end >= data.length) return undefined;
      if (data[end] === contextMark) wanted = 2;
      fields.push(Number(data.toString('latin1', at, end)));
      at = end + 1;
    }
    const textEnd = data.indexOf(lineFeed, at);
    if (textEnd < 0) return undefined;
    this.isEmpty = false;
    const path = this.#withoutMessages(data.toString('latin1', start, pathEnd));
    const [number = 0, second = 0, third] = fields;
    const [column, offset] = third === undefined ? [0, second] : [second, third];
    this.#onLine({ path, number, isMatch: third !== undefined, column, offset, text: data.subarray(at, textEnd) });
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
const contextMark = 1;
const lineFeed = 10;

function digitsEnd(data: Buffer, start: number): number {
  let at = start;
  while (at < data.length && data[at] !== nul && data[at] !== contextMark) at++;
  return at;
}
