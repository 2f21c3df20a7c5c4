/**
 * The text of a listing, worked on in pieces while it is read: at the end of a large one, all of it at once would take
 * a long breath.
 */
export class Listing {
  language: string;
  /** How many listings are open inside each other; they look like one. */
  depth = 1;
  /** Characters that stand before lines. */
  signs = 0;
  readonly #indent: string;
  #signsLeft: number;
  readonly #pieces: string[] = [];
  #fence = '```';
  /** The end of the last piece, where a row of backticks may have begun. */
  #tail = '';
  #pending: string[] = [];
  #length = 0;
  #isLineEnded = true;

  /** `indent` is what stands before each line but the first, as long as `signsLeft` and the text make room for it. */
  constructor(language: string, indent: string, signsLeft: number) {
    this.language = language;
    this.#indent = indent;
    this.#signsLeft = signsLeft;
  }

  add(text: string): void {
    if (text === '') return;
    this.#isLineEnded = text.endsWith('\n');
    this.#pending.push(text);
    this.#length += text.length;
    // The other half of a new line may follow.
    if (this.#length >= pieceLength && !text.endsWith('\r')) this.#endPiece();
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
    const [fence, indent] = [this.#fence, this.#indent];
    this.signs += 2 * indent.length;
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
    this.#signsLeft += code.length;
    const indent = this.#signsLeft < lines.length * this.#indent.length ? '' : this.#indent;
    const signs = (lines.length - 1) * indent.length;
    this.#signsLeft -= signs;
    this.signs += signs;
    this.#pieces.push(lines.join(`\n${indent}`));
  }
}

const pieceLength = 16 * 1024;
const maxFence = 1000;

/** More backticks than stand in the code, unless nobody would write so many. */
export function fenceAround(code: string, least: string): string {
  let fence = least;
  while (fence.length < maxFence && code.includes(fence)) fence += fence;
  return fence;
}
