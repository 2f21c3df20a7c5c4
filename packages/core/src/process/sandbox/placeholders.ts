import { rmdirSync } from 'node:fs';

/** Empty directories that bubblewrap creates in the workspace to cover protected names that do not exist. */
export class Placeholders {
  readonly #holders = new Map<string, number>();

  has(path: string): boolean {
    return this.#holders.has(path);
  }

  hold(paths: readonly string[]): void {
    for (const path of paths) this.#holders.set(path, (this.#holders.get(path) ?? 0) + 1);
  }

  /** Removes those that no other command holds: without its directory a name would be uncovered in the others. */
  release(paths: readonly string[]): void {
    for (const path of paths) {
      const holders = (this.#holders.get(path) ?? 1) - 1;
      if (holders > 0) this.#holders.set(path, holders);
      else this.#remove(path);
    }
  }

  #remove(path: string): void {
    this.#holders.delete(path);
    try {
      rmdirSync(path);
    } catch {
      // It is not empty, or bubblewrap never made it: either way it is not ours to remove.
    }
  }
}
