import { randomBytes } from 'node:crypto';
import { copyFileSync, cpSync, mkdirSync, readlinkSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { lstatOf, putBack, type Snapshot } from './snapshots.js';

/** Moves what a command may have planted to a private directory, where no program obeys it. */
export class PutAside {
  readonly #directory: string;
  #count = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Takes a real path of the workspace. Returns where it is now, in words. A symlink at it or on the way to it is removed:
   * following it could be what it was planted for.
   */
  take(path: string): string {
    const link = firstLink(path);
    if (link !== undefined) {
      const target = readlinkSync(link);
      rmSync(link);
      return link === path ? `it was a symlink to ${target}` : `${link} was a symlink to ${target}`;
    }
    const copy = this.#placeFor(path);
    move(path, copy);
    return `it is now ${copy}`;
  }

  /** Replaces a name by what it held before, so that it is never missing. Returns where a copy of the new content is. */
  replace(path: string, before: Exclude<Snapshot, { type: 'other' }>): string {
    const info = lstatOf(path);
    if (info?.isDirectory() || info?.isSymbolicLink()) {
      const place = this.take(path);
      putBack(path, before);
      return place;
    }
    const copy = this.#placeFor(path);
    if (info?.isFile()) copyFileSync(path, copy);
    const fresh = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
    putBack(fresh, before);
    renameSync(fresh, path);
    return info?.isFile() ? `it is now ${copy}` : 'it was no file';
  }

  #placeFor(path: string): string {
    const place = join(this.#directory, `${Date.now().toString(36)}-${process.pid}-${this.#count++}`);
    mkdirSync(place, { recursive: true, mode: 0o700 });
    return join(place, basename(path));
  }
}

/** The first symlink on the way to a path; the path itself may be one. */
export function firstLink(path: string): string | undefined {
  const parent = dirname(path);
  const above = parent === path ? undefined : firstLink(parent);
  return above ?? (lstatOf(path)?.isSymbolicLink() ? path : undefined);
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // Another file system. Pipes and sockets cannot be copied, and nobody misses them.
    const filter = (path: string) => isCopyable(path);
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter });
    rmSync(from, { recursive: true, force: true });
  }
}

function isCopyable(path: string): boolean {
  const info = lstatOf(path);
  return info !== undefined && (info.isFile() || info.isDirectory() || info.isSymbolicLink());
}
