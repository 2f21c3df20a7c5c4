import { statSync } from 'node:fs';
import { type BytePath, fromBytePath, systemPath } from './byte-path.js';
import { Slice, type WalkOptions, walk } from './walk.js';

export interface FoundFile {
  /** Absolute, as Lathe shows it. */
  path: string;
  mtimeMs: number;
}

export interface FindOptions extends WalkOptions {
  /** How many files to return; the newest are kept. */
  limit: number;
}

/** The newest files below a directory, and how many there are in all. Memory is bounded by `limit`, not by the tree. */
export async function findFiles(options: FindOptions): Promise<{ files: FoundFile[]; total: number }> {
  const newest = new Newest(options.limit);
  const slice = new Slice(options.signal);
  for await (const { path, files, links } of walk(options)) {
    for (const [index, name] of files.entries()) {
      newest.offer(path + name);
      if (index % 64 === 63 && slice.isOver) await slice.pause();
    }
    for (const name of links) newest.offer(path + name);
  }
  return { files: newest.sorted(), total: newest.total };
}

interface Candidate {
  path: BytePath;
  mtimeMs: number;
}

class Newest {
  readonly #limit: number;
  #kept: Candidate[] = [];
  #worst: Candidate | undefined;
  total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  offer(path: BytePath): void {
    const stat = statOf(path);
    // Gone since it was listed, or a link that leads nowhere or to a directory.
    if (stat?.isFile() !== true) return;
    this.total++;
    const candidate = { path, mtimeMs: stat.mtimeMs };
    if (this.#worst !== undefined && newestFirst(candidate, this.#worst) > 0) return;
    if (this.#kept.push(candidate) >= this.#limit * 4 + 64) this.#cut();
  }

  sorted(): FoundFile[] {
    this.#cut();
    return this.#kept.map(({ path, mtimeMs }) => ({ path: fromBytePath(path), mtimeMs }));
  }

  #cut(): void {
    this.#kept.sort(newestFirst);
    this.#kept = this.#kept.slice(0, this.#limit);
    if (this.#kept.length === this.#limit) this.#worst = this.#kept.at(-1);
  }
}

function newestFirst(a: Candidate, b: Candidate): number {
  return b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1);
}

function statOf(path: BytePath) {
  try {
    return statSync(systemPath(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
