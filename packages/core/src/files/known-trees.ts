import type { BytePath } from './byte-path.js';
import { KnownTree } from './known-tree.js';

const maxTrees = 4;
/** Clocks of file systems tick now and then: what changed this short before it was looked at may do so again unnoticed. */
const defaultSettledMs = 2000;
/** Searches until a tree that ripgrep could not be left alone with is looked at again, at most. */
const maxPatience = 64;

/** The repositories searched last, if they are such that ripgrep can be left alone with them. */
export class KnownTrees {
  /** The last ones last. */
  readonly #trees = new Map<BytePath, KnownTree>();
  readonly #odd = new Map<BytePath, { patience: number; searches: number }>();
  readonly #settledMs: number;

  constructor({ settledMs = defaultSettledMs } = {}) {
    this.#settledMs = settledMs;
  }

  get(directory: BytePath): KnownTree | undefined {
    return this.#trees.get(directory);
  }

  /** A tree to get to know; `undefined` when it is not fit for that, or was not a short while ago. */
  begin(directory: BytePath, level: () => { ignoresCase: boolean } | undefined): KnownTree | undefined {
    const odd = this.#odd.get(directory);
    if (odd !== undefined && ++odd.searches < odd.patience) return undefined;
    const rules = level();
    return rules && new KnownTree(directory, { ignoresCase: rules.ignoresCase, settledMs: this.#settledMs });
  }

  keep(directory: BytePath, tree: KnownTree): void {
    this.#odd.delete(directory);
    this.#trees.delete(directory);
    this.#trees.set(directory, tree);
    dropOldest(this.#trees);
  }

  /** The tree is not one of those, or is no more. */
  forget(directory: BytePath): void {
    this.#trees.delete(directory);
    const patience = Math.min(maxPatience, 2 * (this.#odd.get(directory)?.patience ?? 1));
    this.#odd.delete(directory);
    this.#odd.set(directory, { patience, searches: 0 });
    dropOldest(this.#odd);
  }
}

function dropOldest(map: Map<BytePath, unknown>): void {
  const [oldest] = map.keys();
  if (map.size > maxTrees && oldest !== undefined) map.delete(oldest);
}
