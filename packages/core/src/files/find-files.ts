import { once } from 'node:events';
import { Top } from '../text/top.js';
import { type BytePath, fromBytePath } from './byte-path.js';
import { Slice } from './directory-parts.js';
import { type FileTimes, unknownTime } from './file-times.js';
import { mayShowLink } from './visibility.js';
import { type WalkOptions, walk } from './walk.js';
import type { WalkNotes } from './walk-notes.js';

export interface FoundFile {
  /** Absolute, as Lathe shows it. */
  path: string;
  mtimeMs: number;
}

export interface FindOptions extends WalkOptions {
  /** How many files to return; the newest are kept. */
  limit: number;
  /** After this long the files found so far are returned. */
  timeoutMs?: number;
  times: FileTimes;
}

export interface FoundFiles {
  files: FoundFile[];
  /** How many there are in all, or at least. */
  total: number;
  isComplete: boolean;
}

/** Files whose times are asked for together. */
const pileSize = 512;

/** The newest files below a directory, and how many there are in all. Memory is bounded by `limit`, not by the tree. */
export async function findFiles(options: FindOptions): Promise<FoundFiles> {
  const end = performance.now() + (options.timeoutMs ?? Number.POSITIVE_INFINITY);
  const search = new NewestFiles(options);
  let isComplete = true;
  try {
    for await (const { path, files, links, isComplete: isWhole } of walk(options)) {
      if (!isWhole && files.length >= pileSize) search.expectMany();
      for (const name of files) if (search.add(path + name)) await search.sort();
      for (const name of links) if (mayShowLink(path + name, options) && search.add(path + name)) await search.sort();
      isComplete = performance.now() < end;
      if (!isComplete) break;
    }
    return { ...(await search.result()), isComplete };
  } finally {
    search.close();
  }
}

class NewestFiles {
  readonly #newest: Top<FoundFile>;
  readonly #signal: AbortSignal;
  readonly #slice: Slice;
  readonly #times: FileTimes;
  readonly #notes: WalkNotes | undefined;
  #elsewhere: Promise<unknown> = Promise.resolve();
  #pile: BytePath[] = [];

  constructor({ limit, signal, notes, times }: FindOptions) {
    this.#times = times;
    times.open();
    this.#notes = notes;
    this.#newest = new Top(limit, newestFirst);
    this.#signal = signal;
    this.#slice = new Slice(signal);
  }

  expectMany(): void {
    this.#times.expectMany();
  }

  /** Returns true when it is time to sort. */
  add(path: BytePath): boolean {
    return this.#pile.push(path) >= pileSize;
  }

  async sort(): Promise<void> {
    const pile = this.#pile;
    this.#pile = [];
    const times = this.#times.startElsewhere(pile);
    if (times === undefined) return this.#sortHere(pile);
    const sorted = times.then(
      (found) => pile.forEach((path, index) => this.#keep(path, found[index])),
      () => this.#sortHere(pile),
    );
    this.#elsewhere = Promise.all([this.#elsewhere, sorted]);
    // Only the end waits for it.
    this.#elsewhere.catch(() => {});
  }

  async #sortHere(pile: readonly BytePath[]): Promise<void> {
    for (const path of pile) {
      this.#keep(path, this.#times.of(path));
      if (this.#slice.tick()) await this.#slice.pause();
    }
  }

  async result(): Promise<{ files: FoundFile[]; total: number }> {
    await this.sort();
    await this.#waitForOthers();
    const files = this.#newest.items().map(({ path, mtimeMs }) => ({ path: fromBytePath(path), mtimeMs }));
    return { files, total: this.#newest.count };
  }

  async #waitForOthers(): Promise<void> {
    this.#signal.throwIfAborted();
    const done = new AbortController();
    try {
      await Promise.race([this.#elsewhere, once(this.#signal, 'abort', { signal: done.signal })]);
    } finally {
      done.abort();
    }
    this.#signal.throwIfAborted();
  }

  close(): void {
    this.#times.close();
  }

  #keep(path: BytePath, mtimeMs: number = Number.NaN): void {
    if (!Number.isNaN(mtimeMs)) this.#newest.add({ path, mtimeMs });
    if (mtimeMs === unknownTime) this.#notes?.add('last, because their age could not be read', path);
  }
}

function newestFirst(a: FoundFile, b: FoundFile): number {
  return b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1);
}
