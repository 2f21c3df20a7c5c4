import { randomBytes } from 'node:crypto';
import { cpSync, linkSync, mkdirSync, readlinkSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../files/fs-error.js';
import { lstatOf, putBack, type Snapshot } from './snapshots.js';

const maxAttempts = 20;

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
    // Renamed first: what somebody saves under the name from now on is another file.
    const held = besides(path);
    renameSync(path, held);
    const copy = this.#placeFor(path);
    move(held, copy);
    return `it is now ${copy}`;
  }

  /**
   * Replaces a name by what it held before. Overwrites nothing: what somebody saves at this moment is put aside as well.
   * Returns where everything is now, in words. If a program keeps writing, its last texts are removed.
   */
  replace(path: string, before: Exclude<Snapshot, { type: 'other' }>): string {
    const fresh = besides(path);
    putBack(fresh, before);
    const places: string[] = [];
    try {
      while (!isPlaced(fresh, path)) {
        if (places.length < maxAttempts) places.push(this.take(path));
        else rmSync(path, { recursive: true, force: true });
      }
    } finally {
      rmSync(fresh, { force: true });
    }
    return places.join(', then ') || 'it was gone';
  }

  #placeFor(path: string): string {
    const place = join(this.#directory, `${Date.now().toString(36)}-${process.pid}-${this.#count++}`);
    mkdirSync(place, { recursive: true, mode: 0o700 });
    return join(place, basename(path));
  }
}

/** A new name in the same directory. */
function besides(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
}

/** Gives a file its name, unless the name is taken. */
function isPlaced(fresh: string, path: string): boolean {
  try {
    linkSync(fresh, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || lstatOf(path)) return false;
    // A file system without hard links.
    renameSync(fresh, path);
    return true;
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
