import { Top } from '../text/top.js';
import { type BytePath, fromBytePath } from './byte-path.js';
import { type FileTimes, unknownTime } from './file-times.js';
import { keptShapes } from './kept-shapes.js';
import { Slice } from './slice.js';
import { longestTimer, untilAborted } from './until-aborted.js';
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
  keptShapes.search = search;
  let isComplete = true;
  try {
    for await (const { path, files, links, isComplete: isWhole } of walk(options)) {
      if (!isWhole && files.length >= pileSize) search.expectMany();
      await search.add(path, files);
      for (const name of links) if (mayShowLink(path + name, options)) await search.add(path, [name]);
      isComplete = performance.now() < end;
      if (!isComplete) break;
    }
    const found = await search.result(end);
    return { ...found, isComplete: isComplete && found.isComplete };
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
    this.#notes = notes;
    this.#newest = new Top(limit, newestFirst);
    this.#signal = signal;
    this.#slice = new Slice(signal);
    times.open();
  }

  expectMany(): void {
    this.#times.expectMany();
  }

  async add(directory: BytePath, names: readonly string[]): Promise<void> {
    for (const name of names) if (this.#pile.push(directory + name) >= pileSize) await this.#sort();
  }

  async #sort(): Promise<void> {
    const pile = this.#pile;
    this.#pile = [];
    const times = this.#times.startElsewhere(pile);
    if (times === undefined) return this.#sortHere(pile);
    const sorted = times.then(
      (found) => this.#keepAll(pile, found),
      () => this.#sortHere(pile),
    );
    this.#elsewhere = Promise.all([this.#elsewhere, sorted]);
    // Only the end waits for it.
    this.#elsewhere.catch(() => {});
  }

  async #keepAll(pile: readonly BytePath[], times: Float64Array): Promise<void> {
    if (times.length < pile.length) return this.#sortHere(pile);
    let index = 0;
    for (const path of pile) this.#keep(path, times[index++]);
  }

  async #sortHere(pile: readonly BytePath[]): Promise<void> {
    for (const path of pile) {
      this.#keep(path, this.#times.of(path));
      if (this.#slice.tick()) await this.#slice.pause();
    }
  }

  /** What was found up to the end, or until `end`. */
  async result(end: number): Promise<FoundFiles> {
    await this.#sort();
    const isComplete = await this.#allAreSorted(end);
    const files = this.#newest.items().map(({ path, mtimeMs }) => ({ path: fromBytePath(path), mtimeMs }));
    return { files, total: this.#newest.count, isComplete };
  }

  /** The other thread may never answer. */
  async #allAreSorted(end: number): Promise<boolean> {
    const time = AbortSignal.timeout(Math.max(0, Math.min(Math.round(end - performance.now()), longestTimer)));
    try {
      await untilAborted(this.#elsewhere, AbortSignal.any([this.#signal, time]));
      return true;
    } catch (error) {
      this.#signal.throwIfAborted();
      if (!time.aborted) throw error;
      return false;
    }
  }

  close(): void {
    this.#times.close();
  }

  #keep(path: BytePath, mtimeMs: number = Number.NaN): void {
    // Most are older than those that are kept.
    if (mtimeMs < (this.#newest.last?.mtimeMs ?? mtimeMs)) this.#newest.skip();
    else if (!Number.isNaN(mtimeMs)) this.#newest.add({ path, mtimeMs });
    if (mtimeMs === unknownTime) this.#notes?.add('last, because their age could not be read', path);
  }
}

function newestFirst(a: FoundFile, b: FoundFile): number {
  return b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1);
}
