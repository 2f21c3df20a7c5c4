/** More paths are not offered. */
const maxPaths = 200_000;
/** A younger list is not refreshed. */
const freshMs = 5_000;
/** How often a growing list is announced. */
const announceMs = 100;

/** The paths of the workspace, listed in the background on first use and again when the list is old. */
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

  /** The paths found so far. */
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
        // The first list is useful while it grows; a later one replaces the old list when it is complete.
        if (!isFirst || performance.now() - announcedAt < announceMs) continue;
        announcedAt = performance.now();
        this.#paths = found;
        this.#onChange();
      }
      this.#paths = found;
    } catch {
      // The program is exiting or the folder is gone. Keep what was found; reading a file reports the problem.
    } finally {
      this.#isListing = false;
      this.#listedAt = performance.now();
      this.#onChange();
    }
  }
}
