import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeDurably } from '../files/durable-write.js';
import { FileLocks } from '../files/file-lock.js';
import type { LatheHome } from '../files/lathe-home.js';
import { readBounded } from './read-bounded.js';

export interface FileChange {
  /** The real path, all links resolved. */
  path: string;
  /** Mode of a new file; an existing one keeps its own. */
  mode: number;
  /** The new text, from the current one; `undefined` when there is no file, and when there shall be none. */
  change: (text: string | undefined) => string | undefined | Promise<string | undefined>;
  /** Judges the file once more on the lock, before it is read. */
  verify?: () => Promise<void>;
}

const maxAttempts = 10;

/**
 * Changes a small text file: one process at a time, old or new as a whole. A program that does not know our locks may
 * write at the same moment; then its text is the one that is changed.
 */
export async function changeFile(home: LatheHome, { path, mode, change, verify }: FileChange): Promise<void> {
  const signal = AbortSignal.timeout(30_000);
  await new FileLocks(home).hold(path, signal, async (token) => {
    await verify?.();
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const before = readBounded(path);
      const after = await change(before);
      if (after === undefined || after === before) return;
      if (await replace({ path, mode, before, after, token, signal })) return;
    }
    throw new Error(`${path} keeps changing; nothing was saved.`);
  });
}

interface Replacement {
  path: string;
  mode: number;
  before: string | undefined;
  after: string;
  token: string;
  signal: AbortSignal;
}

/** False when somebody else wrote since `before` was read. */
async function replace({ path, mode, before, after, token, signal }: Replacement): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true });
  // A new file begins empty with its final mode, so that it is private before it has content.
  const flags = constants.O_RDONLY | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await open(path, flags, mode);
  let hasChanged = false;
  try {
    await writeDurably({
      path,
      pieces: [Buffer.from(after)],
      original: { handle, stat: await handle.stat({ bigint: true }) },
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
