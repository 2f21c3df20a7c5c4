import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type LatheHome, makeDirectory } from '../files/lathe-home.js';
import { writeDurably } from '../files/write/durable-write.js';
import { FileLocks } from '../files/write/file-lock.js';
import { readBounded } from './read-bounded.js';

export interface FileChange {
  /** The real path, all links resolved. */
  path: string;
  /** Mode of a new file; an existing one keeps its own. */
  mode: number;
  /** Returns the new text from the current one; `undefined` stands for no file. */
  change: (text: string | undefined) => string | undefined | Promise<string | undefined>;
  /** Checks the path again while the lock is held, before the file is read. */
  verify?: () => Promise<void>;
}

const maxAttempts = 10;

/**
 * Changes a small text file atomically, one process at a time. If a program without our locks writes at the same time,
 * the change is applied to its text.
 */
export async function changeFile(home: LatheHome, { path, mode, change, verify }: FileChange): Promise<void> {
  const signal = AbortSignal.timeout(30_000);
  await new FileLocks(home).hold(path, signal, async (token) => {
    await verify?.();
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const before = readBounded(path);
      const after = await change(before);
      if (after === undefined || after === before) return;
      if (await replace(path, { mode, before, after, token, signal })) return;
    }
    throw new Error(`${path} keeps changing; nothing was saved.`);
  });
}

interface Replacement {
  mode: number;
  before: string | undefined;
  after: string;
  token: string;
  signal: AbortSignal;
}

/** False when the file changed since `before` was read. */
async function replace(path: string, { mode, before, after, token, signal }: Replacement): Promise<boolean> {
  makeDirectory(dirname(path), 0o777);
  // A new file is created empty with its final mode, so that it is private before it has content.
  const flags = constants.O_RDONLY | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await open(path, flags, mode);
  let hasChanged = false;
  try {
    await writeDurably({
      path,
      pieces: [Buffer.from(after)],
      original: { fd: handle.fd, stat: await handle.stat({ bigint: true }) },
      token,
      signal,
      beforeCommit: async () => {
        hasChanged = readBounded(path) !== (before ?? '');
        if (hasChanged) throw new Error(`${path} has changed.`);
      },
    });
    return true;
  } catch (error) {
    if (hasChanged) return false;
    throw error;
  } finally {
    await handle.close();
  }
}
