import { lstat, open, readFile, readlink, rename, rmdir, symlink, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolError, thrownText } from '../contract/errors.js';
import { secrecyOf } from '../files/access/protected-paths.js';
import { osPath } from '../files/file-name.js';
import { codeOf } from '../files/fs-error.js';
import type { Journal } from '../files/undo/journal.js';
import { DirectoryHandle } from '../files/write/directory-handle.js';
import { removeDurably } from '../files/write/durable-write.js';
import { writeRecorded } from '../files/write/file-changes.js';
import type { FileLocks } from '../files/write/file-lock.js';
import { assertUnchanged, snapshotOf, withFileIfAny } from '../files/write/file-snapshot.js';
import { tempPrefix } from '../files/write/temp-name.js';
import type { PlannedFile } from './plan-restore.js';
import { blobId, type FileEntry, type SnapshotStore } from './snapshot-store.js';

export interface RestoreParts {
  root: string;
  store: SnapshotStore;
  locks: FileLocks;
  journal: Journal;
  /** Stands in the journal as the tool. Default: `rewind`. */
  tool?: string;
}

/** What became of a planned file. */
export type RestoreOutcome =
  | { path: string; status: 'restored' | 'removed' }
  | { path: string; status: 'left'; reason: string };

const parallelWrites = 8;

/**
 * Carries out a plan. Each file has its old or its new content at any moment. A file that does not look as it did when
 * the plan was made is left.
 */
export async function restoreFiles(
  parts: RestoreParts,
  files: readonly PlannedFile[],
  signal: AbortSignal,
): Promise<RestoreOutcome[]> {
  const outcomes = new Map<PlannedFile, RestoreOutcome>();
  const restore = async (file: PlannedFile, content: Buffer | null) => {
    outcomes.set(file, await restoreFile(parts, file, content, signal).catch((error: unknown) => failure(file, error)));
  };
  // Removals make room: a file may have taken the place of a directory. The innermost come first.
  for (const file of files.filter(({ target }) => !target).toReversed()) await restore(file, null);
  const wanted = files.flatMap(({ target }) => target?.id ?? []);
  const running: Promise<void>[] = [];
  for await (const [id, content] of parts.store.contentsOf(wanted, signal))
    for (const file of files.filter(({ target }) => target?.id === id)) {
      running.push(restore(file, content));
      if (running.length === parallelWrites) await Promise.all(running.splice(0));
    }
  await Promise.all(running);
  return files.map(
    (file) =>
      outcomes.get(file) ?? { path: file.path, status: 'left', reason: 'its earlier content is no longer kept' },
  );
}

function failure({ path }: PlannedFile, error: unknown): RestoreOutcome {
  if (!(error instanceof ToolError) && codeOf(error) === undefined) throw error;
  return { path, status: 'left', reason: thrownText(error) };
}

async function restoreFile(
  parts: RestoreParts,
  file: PlannedFile,
  content: Buffer | null,
  signal: AbortSignal,
): Promise<RestoreOutcome> {
  const path = join(parts.root, file.path);
  signal.throwIfAborted();
  const isLink = [file.now, file.target].some((entry) => entry?.mode === '120000');
  const isDone = await parts.locks.hold(path, signal, (token) => {
    const work = { path, token, now: file.now, target: file.target, content };
    return isLink ? replaceEntry(work) : replaceFile(parts, work, signal);
  });
  if (!isDone) return { path: file.path, status: 'left', reason: 'changed meanwhile' };
  if (file.target) return { path: file.path, status: 'restored' };
  await removeEmptyParents(dirname(path), parts.root);
  return { path: file.path, status: 'removed' };
}

/** Writes or removes a regular file, and records its old content in the journal. False when another file is there. */
async function replaceFile(parts: RestoreParts, work: Replacement, signal: AbortSignal): Promise<boolean> {
  const { path, now, target, content } = work;
  return withFileIfAny(path, async (file) => {
    const current = file && (await snapshotOf(file, signal));
    const entry = file && current ? entryOf(Number(file.stat.mode), blobId(current.bytes)) : undefined;
    if (entry?.id !== now?.id || entry?.mode !== now?.mode) return false;
    const { journal, tool = 'rewind' } = parts;
    if (target && content) {
      const mode = (usual: number) => permissions(usual, target, path);
      await writeRecorded(journal, { tool, path, file, current, pieces: [content], token: work.token, signal, mode });
      return true;
    }
    const beforeCommit = async () => {
      if (file && current) await assertUnchanged(file, current, signal);
    };
    await removeDurably({ path, original: file, beforeCommit });
    return true;
  });
}

/** Snapshots know no empty directories. */
async function removeEmptyParents(directory: string, root: string): Promise<void> {
  for (let at = directory; at !== root && at !== dirname(at); at = dirname(at)) {
    const isGone = await rmdir(osPath(at)).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}

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
async function replaceEntry({ path, token, now, target, content }: Replacement): Promise<boolean> {
  const directory = await DirectoryHandle.open(dirname(path));
  const [place, temp] = [directory.entry(basename(path)), directory.entry(tempPrefix + token)];
  try {
    const current = await entryAt(place);
    if (current?.id !== now?.id || current?.mode !== now?.mode) return false;
    if (!target || !content) await unlink(place);
    else {
      await (target.mode === '120000'
        ? symlink(content, temp)
        : createFile(temp, content, permissions(0o666 & ~process.umask(), target, path)));
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
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
