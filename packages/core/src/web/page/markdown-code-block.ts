/**
 * The text of a code block, processed in pieces while it is read: a large one, processed at once, would block the event
 * loop.
 */
export class CodeBlock {
  language: string;
  /** How many nested code blocks are open; they are written as one. */
  depth = 1;
  /** Characters of line prefixes. */
  prefixChars = 0;
  readonly #indent: string;
  #prefixBudget: number;
  readonly #pieces: string[] = [];
  #fence = '```';
  /** The end of the last piece, where a run of backticks may have begun. */
  #tail = '';
  #pending: string[] = [];
  #length = 0;
  #isLineEnded = true;

  /** `indent` is the prefix of each line but the first, as long as `prefixBudget` and the text allow it. */
  constructor(language: string, indent: string, prefixBudget: number) {
    this.language = language;
    this.#indent = indent;
    this.#prefixBudget = prefixBudget;
  }

  add(text: string): void {
    if (text === '') return;
    this.#isLineEnded = text.endsWith('\n');
    this.#pending.push(text);
    this.#length += text.length;
    // The other half of a CRLF may follow.
    if (this.#length >= pieceLength && !text.endsWith('\r')) this.#endPiece();
  }

  endLine(): void {
    if (!this.#isLineEnded) this.add('\n');
  }

  /** The code block with its fences, in pieces; empty when it is blank. */
  finish(): string[] {
    this.#endPiece();
    const pieces = this.#pieces;
    let last = '';
    while (last === '' && pieces.length > 0) last = pieces.pop()?.trimEnd() ?? '';
    if (last === '' || (pieces.length === 0 && last.trim() === '')) return [];
    pieces.push(last);
    const [fence, indent] = [this.#fence, this.#indent];
    this.prefixChars += 2 * indent.length;
    return [`${fence}${this.language}\n${indent}`, ...pieces, `\n${indent}${fence}`];
  }

  #endPiece(): void {
    const text = this.#pending.join('');
    this.#pending = [];
    this.#length = 0;
    this.#fence = fenceAround(`${this.#tail}${text}`, this.#fence);
    this.#tail = text.slice(-maxFence);
    const code = this.#pieces.length === 0 ? text.replace(/^\r?\n/, '') : text;
    const lines = code.split(/\r?\n/);
    this.#prefixBudget += code.length;
    const indent = this.#prefixBudget < lines.length * this.#indent.length ? '' : this.#indent;
    const prefixChars = (lines.length - 1) * indent.length;
    this.#prefixBudget -= prefixChars;
    this.prefixChars += prefixChars;
    this.#pieces.push(lines.join(`\n${indent}`));
  }
}

const pieceLength = 16 * 1024;
const maxFence = 1000;

/** A fence with more backticks than any run in the code, up to a limit. */
export function fenceAround(code: string, least: string): string {
  let fence = least;
  while (fence.length < maxFence && code.includes(fence)) fence += fence;
  return fence;
}
