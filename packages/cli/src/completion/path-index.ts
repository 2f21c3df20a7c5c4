/** Names beyond these are not offered; nobody finds a file among so many by typing. */
const maxPaths = 200_000;
/** A list younger than this is not made again. */
const freshMs = 5_000;
/** How often what is found so far is announced. */
const announceMs = 100;

/** The paths of the workspace, listed in the background when they are first asked for and again when they are old. */
export class PathIndex {
  readonly #list: (signal: AbortSignal) => AsyncIterable<readonly string[]>;
  readonly #onChange: () => void;
  readonly #signal: AbortSignal;
  #paths: readonly string[] = [];
  #listedAt = Number.NEGATIVE_INFINITY;
  #isListing = false;

  constructor(
    list: (signal: AbortSignal) => AsyncIterable<readonly string[]>,
    { onChange, signal }: { onChange: () => void; signal: AbortSignal },
  ) {
    this.#list = list;
    this.#onChange = onChange;
    this.#signal = signal;
  }

  /** What is known now; more may follow. */
  get paths(): readonly string[] {
    if (!this.#isListing && performance.now() - this.#listedAt > freshMs) void this.#refresh();
    return this.#paths;
  }

  async #refresh(): Promise<void> {
    this.#isListing = true;
    const found: string[] = [];
    const isFirst = this.#paths.length === 0;
    let announcedAt = performance.now();
    try {
      for await (const some of this.#list(this.#signal)) {
        found.push(...some);
        if (found.length >= maxPaths) break;
        // The first list is of use while it grows; a later one replaces the old when it is complete.
        if (!isFirst || performance.now() - announcedAt < announceMs) continue;
        announcedAt = performance.now();
        this.#paths = found;
        this.#onChange();
      }
      this.#paths = found;
    } catch {
      // The program ends, or the folder is gone: what was found stays on offer, and reading it says what is wrong.
    } finally {
      this.#isListing = false;
      this.#listedAt = performance.now();
      this.#onChange();
    }
  }
}
