import { statSync } from 'node:fs';
import { Top } from '../text/top.js';
import { type BytePath, fromBytePath, systemPath } from './byte-path.js';
import { Slice } from './directory-parts.js';
import { type WalkOptions, walk } from './walk.js';

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
}

export interface FoundFiles {
  files: FoundFile[];
  /** How many there are in all, or at least. */
  total: number;
  isComplete: boolean;
}

/** The newest files below a directory, and how many there are in all. Memory is bounded by `limit`, not by the tree. */
export async function findFiles(options: FindOptions): Promise<FoundFiles> {
  const newest = new Top<FoundFile>(options.limit, newestFirst);
  const slice = new Slice(options.signal);
  const end = performance.now() + (options.timeoutMs ?? Number.POSITIVE_INFINITY);
  let isComplete = true;
  for await (const { path, files, links } of walk(options)) {
    for (const names of [files, links]) {
      for (const [index, name] of names.entries()) {
        const stat = statOf(path + name);
        // Otherwise gone since it was listed, or a link that leads nowhere or to a directory.
        if (stat?.isFile() === true) newest.add({ path: path + name, mtimeMs: stat.mtimeMs });
        if (index % 64 === 63 && slice.isOver) await slice.pause();
      }
    }
    isComplete = performance.now() < end;
    if (!isComplete) break;
  }
  const files = newest.items().map(({ path, mtimeMs }) => ({ path: fromBytePath(path), mtimeMs }));
  return { files, total: newest.count, isComplete };
}

function newestFirst(a: FoundFile, b: FoundFile): number {
  return b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1);
}

function statOf(path: BytePath) {
  try {
    return statSync(systemPath(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
