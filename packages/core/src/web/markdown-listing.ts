/**
 * The text of a listing, worked on in pieces of whole lines while it is read: at the end of a large one, all of it at
 * once would take a long breath.
 */
export class Listing {
  language: string;
  /** How many listings are open inside each other; they look like one. */
  depth = 1;
  readonly #indent: string;
  readonly #pieces: string[] = [];
  #pending: string[] = [];
  #length = 0;
  #isLineEnded = true;

  /** `indent` is what stands before each line but the first. */
  constructor(language: string, indent: string) {
    this.language = language;
    this.#indent = indent;
  }

  add(text: string): void {
    if (text === '') return;
    this.#isLineEnded = text.endsWith('\n');
    this.#length += text.length;
    const end = this.#length < pieceLength ? 0 : text.lastIndexOf('\n') + 1;
    if (end === 0) {
      this.#pending.push(text);
      return;
    }
    this.#pending.push(text.slice(0, end));
    this.#endPiece();
    this.add(text.slice(end));
  }

  endLine(): void {
    if (!this.#isLineEnded) this.add('\n');
  }

  /** The listing between its fences, in pieces; nothing when there is nothing to see in it. */
  finish(): string[] {
    this.#endPiece();
    const pieces = this.#pieces;
    let last = '';
    while (last === '' && pieces.length > 0) last = pieces.pop()?.trimEnd() ?? '';
    if (last === '' || (pieces.length === 0 && last.trim() === '')) return [];
    pieces.push(last);
    const fence = fenceAround(pieces, '```');
    return [`${fence}${this.language}\n${this.#indent}`, ...pieces, `\n${this.#indent}${fence}`];
  }

  #endPiece(): void {
    const text = this.#pending.join('');
    this.#pending = [];
    this.#length = 0;
    const code = this.#pieces.length === 0 ? text.replace(/^\r?\n/, '') : text;
    this.#pieces.push(code.split(/\r?\n/).join(`\n${this.#indent}`));
  }
}

const pieceLength = 16 * 1024;
const maxFence = 1000;

/** More backticks than stand in the code, unless nobody would write so many. */
export function fenceAround(code: readonly string[], least: string): string {
  let fence = least;
  while (fence.length < maxFence && code.some((piece) => piece.includes(fence))) fence += fence;
  return fence;
}
