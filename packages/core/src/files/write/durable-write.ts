import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type BigIntStats, existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { access, constants, link, lstat, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { allDone } from '../../async/all-done.js';
import { ToolError } from '../../contract/errors.js';
import { osPath } from '../file-name.js';
import { codeOf } from '../fs-error.js';
import { DirectoryHandle } from './directory-handle.js';
import { startsWith, writeAll } from './file-snapshot.js';
import { tempPrefix } from './temp-name.js';
import { toWriteError } from './write-errors.js';

/**
 * A write is old or new, never torn, and a reported success survives power loss: a temporary file in the same
 * directory, flushed and read back, takes the name in one step, then the directory is flushed.
 *
 * Choices: a name shared by hard links is replaced, the other names keep the old content (a package store stays
 * clean); a file that cannot be replaced this way, in a directory without write permission or owned by somebody else,
 * is refused rather than overwritten in place.
 */
export interface DurableWrite {
  /** The real path, all links resolved. */
  path: string;
  /** The new content, in order. */
  pieces: readonly Uint8Array[];
  /** The file to replace, held open since it was read; `null` when there must be none. */
  original: { fd: number; stat: BigIntStats } | null;
  /** Random and unguessable; names the temporary file, so that any process that finds the token can remove it. */
  token: string;
  signal: AbortSignal;
  /** Changes the permissions that the file would have without it. */
  mode?: (usual: number) => number;
  /** Work that runs beside the writing and must succeed before the new content takes the name. */
  alongside?: (madeDirectories: readonly string[]) => Promise<void>;
  /** The last check before the new content takes the name. Throws to keep the old file. */
  beforeCommit?: () => Promise<void>;
}

export async function writeDurably(write: DurableWrite): Promise<void> {
  let directory: DirectoryHandle | undefined;
  try {
    if (write.original !== null) await assertWritable(write.path, write.original.stat);
    directory = await DirectoryHandle.open(dirname(write.path));
    await writeInto(directory, write);
  } catch (error) {
    await directory?.removeCreated();
    throw toWriteError(error, write.path);
  } finally {
    await directory?.close();
  }
}

/** Removes a file, and only the one that was opened. */
export async function removeDurably(
  removal: Required<Pick<DurableWrite, 'path' | 'original' | 'beforeCommit'>>,
): Promise<void> {
  const { path, original, beforeCommit } = removal;
  const directory = await DirectoryHandle.open(dirname(path));
  try {
    await beforeCommit();
    await assertSame(directory.entry(basename(path)), path, original);
    await unlink(directory.entry(basename(path)));
    await confirm(directory, path);
  } catch (error) {
    throw toWriteError(error, path);
  } finally {
    await directory.close();
  }
}

/** Removes the temporary file of an interrupted write, named by its token. */
export async function sweepTemp(path: string, token: string): Promise<void> {
  // It is gone or out of reach, and does no harm either way.
  await unlink(osPath(join(dirname(path), tempPrefix + token))).catch(() => {});
}

/** A rename needs no permission on the file itself, so read-only files need a check. */
async function assertWritable(path: string, stat: BigIntStats): Promise<void> {
  if (!stat.isFile()) throw new ToolError('target_not_regular_file', `${path} is not a regular file`);
  if ((stat.mode & 0o222n) === 0n)
    throw new ToolError('permission_denied', `${path} is read-only; make it writable first (chmod u+w)`);
  await access(osPath(path), constants.W_OK);
}

async function writeInto(directory: DirectoryHandle, write: DurableWrite): Promise<void> {
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const temp = directory.entry(tempPrefix + write.token);
  const handle = await open(temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    await fillAndClose(handle, write, directory.created);
    write.signal.throwIfAborted();
    await write.beforeCommit?.();
    await directory.verify();
    await commit(directory, temp, write);
  } catch (error) {
    await unlink(temp).catch(() => {});
    throw error;
  }
  await confirm(directory, write.path);
}

async function fillAndClose(
  handle: FileHandle,
  write: DurableWrite,
  madeDirectories: readonly string[],
): Promise<void> {
  try {
    await allDone([fill(handle, write), write.alongside?.(madeDirectories)]);
    // Read back, so that a success is certain.
    if (!(await startsWith(handle, write.pieces)))
      throw new ToolError('file_write_failure', 'The device did not return the bytes that were written');
  } catch (error) {
    await handle.close().catch(() => {});
    throw error;
  }
  // Some file systems report a lost write only here, so it must happen before the commit.
  await handle.close();
}

async function fill(handle: FileHandle, { pieces, original, signal, mode }: DurableWrite): Promise<void> {
  const newMode = 0o666 & ~process.umask();
  const attributes = original === null ? handle.chmod(newMode) : keepAttributes(original, handle);
  await allDone([writeAll(handle, pieces, signal), attributes]);
  if (mode) await handle.chmod(mode((await handle.stat()).mode & 0o7777));
  await handle.sync();
}

async function commit(
  directory: DirectoryHandle,
  temp: string | Buffer,
  { path, original }: DurableWrite,
): Promise<void> {
  const target = directory.entry(basename(path));
  if (original === null) return create(temp, target, path);
  await assertSame(target, path, original);
  await rename(temp, target);
}

async function assertSame(target: string | Buffer, path: string, original: DurableWrite['original']): Promise<void> {
  const present = await lstat(target, { bigint: true });
  if (original && present.ino === original.stat.ino && present.dev === original.stat.dev) return;
  throw new ToolError('file_changed_since_read', `${path} was replaced by another program; read it again`);
}

/** A link fails when the name is taken, a rename would not. */
async function create(temp: string | Buffer, target: string | Buffer, path: string): Promise<void> {
  try {
    await link(temp, target);
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === 'EEXIST') throw alreadyThere(path, error);
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) throw error;
    // A file system without hard links.
    if (await lstat(target).catch(() => undefined)) throw alreadyThere(path, error);
    return rename(temp, target);
  }
  await unlink(temp).catch(() => {});
}

function alreadyThere(path: string, cause: unknown): ToolError {
  return new ToolError('attempt_to_create_existing_file', `${path} exists now; read it first`, { cause });
}

async function confirm(directory: DirectoryHandle, path: string): Promise<void> {
  try {
    await directory.sync();
  } catch (cause) {
    const code = codeOf(cause) ?? 'unknown error';
    const message = `${path} has its new content, but the disk did not confirm it (${code}): it may not survive a power loss`;
    throw new ToolError('file_write_failure', message, { cause });
  }
}

/**
 * Gives `to` the owner, mode, access list and extended attributes of `from`. Throws when one cannot be kept: a file that
 * silently changes its owner or loses its access list is damaged too.
 */
async function keepAttributes(from: { fd: number; stat: BigIntStats }, to: FileHandle): Promise<void> {
  await copyExtendedAttributes(from.fd, to.fd);
  const { uid, gid, mode } = from.stat;
  const current = await to.stat({ bigint: true });
  if (current.uid !== uid || current.gid !== gid) await keepOwner(to, Number(uid), Number(gid));
  // After the owner, because a change of owner clears the set-id bits.
  await to.chmod(Number(mode & 0o7777n));
}

async function keepOwner(to: FileHandle, uid: number, gid: number): Promise<void> {
  try {
    await to.chown(uid, gid);
  } catch (cause) {
    throw new ToolError(
      'permission_denied',
      `The file belongs to user ${uid}, group ${gid}, and replacing it would change that. Nothing was written.`,
      { cause },
    );
  }
}

const copyPrograms = ['/usr/bin/cp', '/bin/cp'];

/**
 * Node cannot read extended attributes, GNU cp can. It gets the two open descriptors, not names, so that it touches
 * exactly these files. Without GNU cp (other systems, minimal images) owner and mode are still kept.
 */
async function copyExtendedAttributes(from: number, to: number): Promise<void> {
  if (process.platform !== 'linux') return;
  const program = copyPrograms.find((path) => existsSync(path));
  if (program === undefined) return;
  const flags = ['--attributes-only', '--preserve=all', '--no-preserve=timestamps,ownership'];
  const child = spawn(program, [...flags, '/proc/self/fd/3', '/proc/self/fd/4'], {
    stdio: ['ignore', 'ignore', 'pipe', from, to],
    env: { LC_ALL: 'C' },
    timeout: 10_000,
  });
  let complaint = '';
  child.stderr?.on('data', (data: Buffer) => (complaint += data.toString('utf8').slice(0, 500)));
  const [code]: (number | null)[] = await once(child, 'close');
  if (code === 0 || complaint.includes('unrecognized option')) return;
  throw new ToolError('file_write_failure', `The file's attributes cannot be kept: ${complaint.trim()}`);
}
