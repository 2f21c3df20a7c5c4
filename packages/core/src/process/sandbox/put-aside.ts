import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, linkSync, mkdirSync, readlinkSync, renameSync, rmSync } from 'node:fs';
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
    allowChanges(dirname(link ?? path));
    if (link !== undefined) {
      const target = readlinkSync(link);
      rmSync(link);
      return link === path ? `it was a symlink to ${target}` : `${link} was a symlink to ${target}`;
    }
    if (lstatOf(path)?.isDirectory()) allowChanges(path);
    const copy = this.#placeFor(path);
    move(path, copy);
    return `it is now ${copy}`;
  }

  /** Keeps a content that was at a name. Returns where it is now, in words. */
  keep(path: string, content: Exclude<Snapshot, { type: 'other' }>): string {
    const copy = this.#placeFor(path);
    putBack(copy, content);
    return `it is now ${copy}`;
  }

  /**
   * Replaces a name by what it held before. Overwrites nothing: what somebody saves at this moment is put aside as well.
   * Returns where everything is now, in words, oldest first. If a program keeps writing, its last texts are removed.
   */
  replace(path: string, before: Exclude<Snapshot, { type: 'other' }>): string[] {
    const fresh = besides(path);
    putBack(fresh, before);
    const places: string[] = [];
    try {
      while (!isPlaced(fresh, path) && !isPutBack(path, before)) {
        if (places.length < maxAttempts) places.push(...this.#takeIfThere(path));
        else rmSync(path, { recursive: true, force: true });
      }
    } finally {
      rmSync(fresh, { force: true });
    }
    return places;
  }

  #takeIfThere(path: string): string[] {
    try {
      return [this.take(path)];
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  #placeFor(path: string): string {
    const place = join(this.#directory, `${Date.now().toString(36)}-${process.pid}-${this.#count++}`);
    mkdirSync(place, { recursive: true, mode: 0o700 });
    return join(place, basename(path));
  }
}

/** A command can make a directory read-only after it planted something in it. */
function allowChanges(directory: string): void {
  const mode = Number(lstatOf(directory)?.mode ?? 0) & 0o7777;
  try {
    if ((mode & 0o700) !== 0o700) chmodSync(directory, mode | 0o700);
  } catch {
    return; // Of another user, so that no command planted it.
  }
}

/** A new name in the same directory. */
function besides(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
}

/** Whether `PutAside` gives such names to files for a moment. */
export function isTemporaryName(path: string): boolean {
  return /^\..+\.[0-9a-f]{12}$/.test(basename(path));
}

/** Gives a complete file its name. Fails if the name is taken, somebody removed the file, or there are no hard links. */
function isPlaced(fresh: string, path: string): boolean {
  try {
    linkSync(fresh, path);
    return true;
  } catch {
    return false;
  }
}

function isPutBack(path: string, before: Exclude<Snapshot, { type: 'other' }>): boolean {
  try {
    putBack(path, before);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
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
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    // Renamed first: what somebody saves under the name from now on is another file.
    const held = besides(from);
    renameSync(from, held);
    // Pipes and sockets cannot be copied, and nobody misses them.
    const filter = (path: string) => isCopyable(path);
    cpSync(held, to, { recursive: true, verbatimSymlinks: true, filter });
    rmSync(held, { recursive: true, force: true });
  }
}

function isCopyable(path: string): boolean {
  const info = lstatOf(path);
  return info !== undefined && (info.isFile() || info.isDirectory() || info.isSymbolicLink());
}
