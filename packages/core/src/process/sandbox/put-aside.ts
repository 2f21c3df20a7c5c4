import { cpSync, mkdirSync, readlinkSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { lstatOf } from './snapshots.js';

/** Moves what a command may have planted to a private directory, where no program obeys it. */
export class PutAside {
  readonly #directory: string;
  #count = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Returns where it is now, in words. A symlink is removed: following it could be what it was planted for. */
  take(path: string): string {
    const info = lstatOf(path);
    if (info?.isSymbolicLink()) {
      const target = readlinkSync(path);
      rmSync(path);
      return `it was a symlink to ${target}`;
    }
    const place = join(this.#directory, `${Date.now().toString(36)}-${process.pid}-${this.#count++}`);
    mkdirSync(place, { recursive: true, mode: 0o700 });
    const copy = join(place, basename(path));
    move(path, copy);
    return `it is now ${copy}`;
  }
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
