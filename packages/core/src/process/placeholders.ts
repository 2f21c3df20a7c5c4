import { rmdirSync } from 'node:fs';

/** Empty directories that lie in the workspace because a sandbox covers their names. */
export class Placeholders {
  readonly #holders = new Map<string, number>();
  readonly #lingerMs: number;
  #timer: NodeJS.Timeout | undefined;

  /** How long they stay after the last command: the kernel takes its time to remove what was covered a moment ago. */
  constructor(lingerMs: number) {
    this.#lingerMs = lingerMs;
  }

  has(path: string): boolean {
    return this.#holders.has(path);
  }

  hold(paths: readonly string[]): void {
    for (const path of paths) this.#holders.set(path, (this.#holders.get(path) ?? 0) + 1);
  }

  drop(paths: readonly string[]): void {
    for (const path of paths) this.#holders.set(path, (this.#holders.get(path) ?? 1) - 1);
    this.#stopLingering();
    if (this.#lingerMs === 0) return this.clear();
    this.#timer = setTimeout(this.clear, this.#lingerMs);
    this.#timer.unref();
    process.once('exit', this.clear);
  }

  /** Removes those that nobody holds: without its directory a name would be uncovered in the others. */
  readonly clear = (): void => {
    this.#stopLingering();
    for (const [path, holders] of this.#holders) {
      if (holders > 0) continue;
      this.#holders.delete(path);
      try {
        rmdirSync(path);
      } catch {
        // Somebody put something into it, or bubblewrap never made it: either way it is not ours to remove.
      }
    }
  };

  #stopLingering(): void {
    clearTimeout(this.#timer);
    process.removeListener('exit', this.clear);
  }
}
