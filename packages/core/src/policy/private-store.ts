import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { thrownText } from '../contract/errors.js';
import { codeOf } from '../files/fs-error.js';
import type { LatheHome } from '../files/lathe-home.js';
import { isWithin } from '../files/workspace.js';
import { changeFile } from '../settings/change-file.js';

const maxBytes = 4 * 1024 * 1024;

interface StoreOptions<T> {
  /** The property of the file that holds the list. */
  key: string;
  /** Entries of another shape are ignored. */
  isEntry: (value: unknown) => value is T;
}

/**
 * A list in a small JSON file in Lathe's home that decides what may run. The file counts only if nobody else can have
 * written it: a regular file of this user, no symlink, not writable by others, in a folder with the same properties.
 */
export class PrivateStore<T> {
  readonly path: string;
  readonly #home: LatheHome;
  readonly #options: StoreOptions<T>;

  constructor(home: LatheHome, name: string, options: StoreOptions<T>) {
    this.path = home.file(name);
    this.#home = home;
    this.#options = options;
  }

  /** The entries; none if the file must not be used. */
  async entries(): Promise<T[]> {
    return this.read().catch(() => []);
  }

  /** Why the file must not be used. */
  async problem(): Promise<string | undefined> {
    try {
      await this.read();
      return undefined;
    } catch (error) {
      return `${this.path} is not used: ${thrownText(error)}`;
    }
  }

  /** Replaces the entries while no other process can change them. */
  async update(change: (entries: T[]) => readonly T[]): Promise<void> {
    await this.#home.directory();
    await changeFile(this.#home, {
      path: this.path,
      mode: 0o600,
      verify: async () => {
        const problem = await this.problem();
        if (problem !== undefined) throw new Error(problem);
      },
      change: (text) => {
        const data = { version: 1, [this.#options.key]: change(this.#parse(text ?? '')) };
        return `${JSON.stringify(data, null, 2)}\n`;
      },
    });
  }

  /** Whether a folder contains the store: its files could change the store. */
  async isInside(folder: string): Promise<boolean> {
    const home = await realpath(this.#home.path).catch(() => this.#home.path);
    return isWithin(folder, home);
  }

  /** The entries; throws if the file must not be used. */
  async read(): Promise<T[]> {
    try {
      checkOwner(await lstat(dirname(this.path)), 'its folder');
      return this.#parse(await readPrivate(this.path));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  #parse(text: string): T[] {
    const data: unknown = text === '' ? undefined : JSON.parse(text);
    const list: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, this.#options.key) : undefined;
    return Array.isArray(list) ? list.filter(this.#options.isEntry) : [];
  }
}

export function isStringPair(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}

async function readPrivate(path: string): Promise<string> {
  // O_NOFOLLOW rejects a symlink; O_NONBLOCK does not wait for a pipe.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw new Error('it is not a regular file');
    checkOwner(info, 'it');
    if (info.size > maxBytes) throw new Error('it is too large');
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

function checkOwner(info: { uid: number; mode: number; isSymbolicLink(): boolean }, what: string): void {
  if (process.platform === 'win32') return;
  if (info.isSymbolicLink()) throw new Error(`${what} is a symbolic link`);
  if (info.uid !== process.getuid?.()) throw new Error(`${what} belongs to another user`);
  if ((info.mode & 0o022) !== 0) throw new Error(`${what} can be written by other users`);
}
