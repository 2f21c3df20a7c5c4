import type { BytePath } from '../byte-path.js';
import type { RgLine } from './rg-output.js';
import { WalkNotes } from './walk-notes.js';

/** Matches of one file beyond the limit that are still counted. */
const countedPerFile = 10_000;

/** The result of a search so far: the lines to show, and how many match in all. */
export class FoundLines {
  readonly lines = new Map<BytePath, RgLine[]>();
  readonly notes = new WalkNotes();
  matches = 0;
  /** Whether `matches` is all there was in the files seen so far. */
  isCounted = true;
  readonly #limit: number;
  readonly #context: number;
  readonly #onMore: () => void;
  #last = { path: '', number: 0, matches: 0 };

  /** `onMore` is called for each line after there are more matches than `limit`. */
  constructor({ limit, context }: { limit: number; context: number }, onMore: () => void) {
    this.#limit = limit;
    this.#context = context;
    this.#onMore = onMore;
  }

  /** For ripgrep's `--max-count`. */
  get maxPerFile(): number {
    return this.#limit + countedPerFile;
  }

  add(line: RgLine): void {
    if (this.#last.path !== line.path) this.#last = { path: line.path, number: 0, matches: 0 };
    if (line.isMatch) {
      this.matches++;
      this.#last = { path: line.path, number: line.number, matches: this.#last.matches + 1 };
      if (this.#last.matches === this.maxPerFile) this.isCounted = false;
    }
    if (this.matches > this.#limit) this.#onMore();
    if (this.#isShown(line)) this.#keep(line);
  }

  /** Removes the lines of a file. */
  drop(path: BytePath): void {
    this.matches -= this.lines.get(path)?.filter(({ isMatch }) => isMatch).length ?? 0;
    this.lines.delete(path);
    this.notes.add('moved during the search and not shown', path);
  }

  #isShown({ isMatch, number }: RgLine): boolean {
    if (isMatch) return this.matches <= this.#limit;
    if (this.matches < this.#limit) return true;
    return this.matches === this.#limit && this.#last.matches > 0 && number - this.#last.number <= this.#context;
  }

  #keep(line: RgLine): void {
    // Copied, because a slice would keep its whole chunk of output in memory.
    const kept = { ...line, text: Buffer.from(line.text) };
    const lines = this.lines.get(line.path);
    if (lines === undefined) this.lines.set(line.path, [kept]);
    else lines.push(kept);
  }
}
