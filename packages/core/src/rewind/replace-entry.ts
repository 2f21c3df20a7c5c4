import { constants, lstat, open, readFile, readlink, rename, symlink, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { secrecyOf } from '../files/access/protected-paths.js';
import { codeOf } from '../files/fs-error.js';
import { DirectoryHandle } from '../files/write/directory-handle.js';
import { tempPrefix } from '../files/write/temp-name.js';
import { blobId, type FileEntry } from './snapshot-store.js';

export interface Replacement {
  path: string;
  /** Names the temporary file. */
  token: string;
  /** What must be there now. */
  now: FileEntry | undefined;
  target: FileEntry | undefined;
  content: Buffer | null;
}

/** Replaces a symlink, or a file by a symlink, in one step. False when something else is there by now. */
export async function replaceEntry({ path, token, now, target, content }: Replacement): Promise<boolean> {
  const directory = await DirectoryHandle.open(dirname(path));
  const [place, temp] = [directory.entry(basename(path)), directory.entry(tempPrefix + token)];
  try {
    const current = await entryAt(place);
    if (current?.id !== now?.id || current?.mode !== now?.mode) return false;
    if (!target || !content) await unlink(place);
    else {
      await (target.mode === '120000'
        ? symlink(content, temp)
        : createFile(temp, content, permissions(usualMode(), target, path)));
      await directory.verify();
      await rename(temp, place);
    }
    await directory.sync();
    return true;
  } catch (error) {
    await unlink(temp).catch(() => undefined);
    throw error;
  } finally {
    await directory.close();
  }
}

/** How git sees a regular file. */
export function entryOf(mode: number, id: string): FileEntry {
  return { mode: mode & 0o100 ? '100755' : '100644', id };
}

/** Snapshots know only whether a file is executable. */
export function permissions(usual: number, { mode }: FileEntry, path: string): number {
  const readable = secrecyOf(path) === undefined ? usual : usual & 0o700;
  return mode === '100755' ? readable | ((readable & 0o444) >> 2) : readable & ~0o111;
}

async function entryAt(path: string | Buffer): Promise<FileEntry | undefined> {
  const stat = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (stat?.isSymbolicLink()) return { mode: '120000', id: blobId(await readlink(path, { encoding: 'buffer' })) };
  if (stat?.isFile()) return entryOf(stat.mode, blobId(await readFile(path)));
  return stat && { mode: 'other', id: '' };
}

async function createFile(path: string | Buffer, content: Buffer, mode: number): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    await handle.writeFile(content);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function usualMode(): number {
  return 0o666 & ~process.umask();
}
