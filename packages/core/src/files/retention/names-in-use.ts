import { randomBytes } from 'node:crypto';
import { lstat, readdir, readlink, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { LatheHome } from '../lathe-home.js';
import { processIdentity, processState } from '../write/file-lock.js';

/** After this time a mark of another machine or container no longer counts; nobody can check whether it still runs. */
const foreignMarkMs = 7 * 86_400_000;
const nameShape = /^[\w-]{4,64}$/;

/**
 * The sessions that running processes work with, so that no other process removes their files. A mark is a symlink
 * `live/<name>.<random>` whose target names the process; the mark of a process that is gone does not count.
 */
export class NamesInUse {
  readonly #home: LatheHome;
  readonly #own = new Set<string>();

  constructor(home: LatheHome) {
    this.#home = home;
  }

  /** Marks a name for this process, or for another one that outlives it. */
  async mark(name: string, pid = process.pid): Promise<void> {
    if (!nameShape.test(name)) throw new Error(`${JSON.stringify(name)} is not the name of a session`);
    const path = join(await this.#home.directory('live'), `${name}.${randomBytes(6).toString('hex')}`);
    await symlink(await processIdentity(pid), path);
    if (pid === process.pid) this.#own.add(path);
  }

  /** Removes the marks of this process. */
  async release(): Promise<void> {
    const paths = [...this.#own];
    this.#own.clear();
    await Promise.all(paths.map((path) => unlink(path).catch(() => undefined)));
  }

  async list(): Promise<Set<string>> {
    const directory = this.#home.file('live');
    const names = await readdir(directory).catch(() => []);
    const live = await Promise.all(names.map(async (name) => ((await isLive(join(directory, name))) ? [name] : [])));
    return new Set(live.flat().map((name) => name.slice(0, name.lastIndexOf('.'))));
  }
}

async function isLive(path: string): Promise<boolean> {
  const identity = await readlink(path).catch(() => undefined);
  if (identity === undefined) return false;
  const state = await processState(identity);
  const isForeignAndFresh =
    state === 'unknown' && Date.now() - ((await lstat(path).catch(() => undefined))?.mtimeMs ?? 0) < foreignMarkMs;
  if (state === 'running' || isForeignAndFresh) return true;
  await unlink(path).catch(() => undefined);
  return false;
}
