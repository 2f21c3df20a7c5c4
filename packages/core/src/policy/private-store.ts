import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { LatheHome } from '../files/lathe-home.js';
import { isWithin } from '../files/workspace.js';
import { changeFile } from '../settings/change-file.js';

const maxBytes = 4 * 1024 * 1024;

/** What was read, or why it must not be believed. */
export type StoreContent = { status: 'ok'; data: unknown } | { status: 'unusable'; reason: string };

/**
 * A small JSON file in our home whose content decides what may run. It is believed only when nobody else could have
 * written it: our own regular file, no link, not writable by others, in a folder that is the same.
 */
export class PrivateStore {
  readonly path: string;
  readonly #home: LatheHome;

  constructor(home: LatheHome, name: string) {
    this.path = home.file(name);
    this.#home = home;
  }

  async read(): Promise<StoreContent> {
    try {
      return { status: 'ok', data: await this.#readChecked() };
    } catch (error) {
      if (isMissing(error)) return { status: 'ok', data: undefined };
      return { status: 'unusable', reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Replaces the content by what `change` makes of it; alone, whatever other processes do. */
  async update(change: (data: unknown) => unknown): Promise<void> {
    await this.#home.directory();
    await changeFile(this.#home, {
      path: this.path,
      mode: 0o600,
      verify: async () => {
        const content = await this.read();
        if (content.status === 'unusable') throw new Error(`${this.path} is not used: ${content.reason}`);
      },
      change: (text) => `${JSON.stringify(change(text ? JSON.parse(text) : undefined), null, 2)}\n`,
    });
  }

  /** A folder that holds the store could rewrite it. */
  async isInside(folder: string): Promise<boolean> {
    const home = await realpath(this.#home.path).catch(() => this.#home.path);
    return isWithin(folder, home);
  }

  async #readChecked(): Promise<unknown> {
    judge(await lstat(dirname(this.path)), 'its folder');
    // O_NOFOLLOW refuses a link, O_NONBLOCK does not wait for a pipe.
    const handle = await open(
      this.path,
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    );
    try {
      const info = await handle.stat();
      if (!info.isFile()) throw new Error('it is not a regular file');
      judge(info, 'it');
      if (info.size > maxBytes) throw new Error('it is too large');
      const text = await handle.readFile('utf8');
      const data: unknown = text === '' ? undefined : JSON.parse(text);
      return data;
    } finally {
      await handle.close();
    }
  }
}

function judge(info: { uid: number; mode: number; isSymbolicLink(): boolean }, what: string): void {
  if (process.platform === 'win32') return;
  if (info.isSymbolicLink()) throw new Error(`${what} is a symbolic link`);
  if (info.uid !== process.getuid?.()) throw new Error(`${what} belongs to another user`);
  if ((info.mode & 0o022) !== 0) throw new Error(`${what} can be written by other users`);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
