import type { BytePath } from './byte-path.js';
import type { IgnoreLevel } from './ignore-rules.js';
import { KnownTree } from './known-tree.js';

const maxTrees = 4;
/** Clocks of file systems tick now and then: what changed this short before it was looked at may do so again unnoticed. */
const defaultSettledMs = 2000;
/** Searches until a tree that ripgrep could not be left alone with is looked at again, at most. */
const maxPatience = 64;

/** The trees searched last, if they are such that ripgrep can be left alone with them. */
export class KnownTrees {
  /** The last ones last. */
  readonly #trees = new Map<BytePath, KnownTree>();
  /** Trees that are not to be learned before so many more searches. */
  readonly #waiting = new Map<BytePath, { patience: number; searches: number }>();
  readonly #settledMs: number;

  constructor({ settledMs = defaultSettledMs } = {}) {
    this.#settledMs = settledMs;
  }

  get(directory: BytePath): KnownTree | undefined {
    return this.#trees.get(directory);
  }

  /**
   * A tree to get to know; `undefined` when it is not fit for that, or was not a short while ago. Where there is another
   * fast way to search it, the first search `canWait`: there may be no second one.
   */
  begin(
    directory: BytePath,
    rules: () => IgnoreLevel | undefined,
    { canWait }: { canWait: boolean },
  ): KnownTree | undefined {
    const waiting = this.#waiting.get(directory);
    if (waiting === undefined && canWait) this.#wait(directory, 1);
    if (waiting === undefined ? canWait : ++waiting.searches < waiting.patience) return undefined;
    const level = rules();
    if (level === undefined) return undefined;
    const { ignoresCase, gitRules } = level;
    return new KnownTree(directory, { ignoresCase, gitRules, settledMs: this.#settledMs });
  }

  keep(directory: BytePath, tree: KnownTree): void {
    this.#waiting.delete(directory);
    this.#trees.delete(directory);
    this.#trees.set(directory, tree);
    dropOldest(this.#trees);
  }

  /** The tree is not one of those, or is no more. */
  forget(directory: BytePath): void {
    this.#trees.delete(directory);
    this.#wait(directory, Math.min(maxPatience, 2 * (this.#waiting.get(directory)?.patience ?? 1)));
  }

  #wait(directory: BytePath, patience: number): void {
    this.#waiting.delete(directory);
    this.#waiting.set(directory, { patience, searches: 0 });
    dropOldest(this.#waiting);
  }
}

function dropOldest(map: Map<BytePath, unknown>): void {
  const [oldest] = map.keys();
  if (map.size > maxTrees && oldest !== undefined) map.delete(oldest);
}
