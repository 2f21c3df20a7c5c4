import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import { type FileHandle, open, realpath, statfs } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ToolError } from '../contract/errors.js';
import { osPath, shownPath } from './file-name.js';
import { codeOf, readFailure } from './fs-error.js';

/** A regular file, open for reading, proven to be the one at `path`. */
export interface ReadableFile {
  path: string;
  fd: number;
  stat: BigIntStats;
}

/** The same with a handle, for whoever does more than read. */
export interface OpenFile extends ReadableFile {
  handle: FileHandle;
}

/**
 * Opens the regular file at a judged path, and only that one: no link is followed, nothing special is opened, and the
 * descriptor itself must say that it belongs to this path. Whoever swaps a directory for a link in between gets an error.
 * A hard link is the file it names: what has a name inside the workspace is read as inside.
 * Opening and metadata are synchronous: judging the path has just fetched what they need, and threads cost ten times more.
 */
export async function withReadableFile<T>(realPath: string, use: (file: ReadableFile) => Promise<T>): Promise<T> {
  const { descriptor, stat } = await openRegularFile(realPath, openDescriptor);
  try {
    return await use({ path: realPath, fd: descriptor.fd, stat });
  } catch (error) {
    throw readFailure(error, realPath);
  } finally {
    descriptor.close();
  }
}

export async function withOpenFile<T>(realPath: string, use: (file: OpenFile) => Promise<T>): Promise<T> {
  const { descriptor: handle, stat } = await openRegularFile(realPath, (path) => open(osPath(path), flags));
  try {
    return await use({ path: realPath, fd: handle.fd, handle, stat });
  } catch (error) {
    throw readFailure(error, realPath);
  } finally {
    // Nothing was written through it, so a failing close takes nothing back.
    await handle.close().catch(() => {});
  }
}

/** Whether somebody wrote to the file since it was opened. */
export function hasChanged({ fd, stat }: ReadableFile): boolean {
  const now = fstatSync(fd, { bigint: true });
  return now.size !== stat.size || now.mtimeNs !== stat.mtimeNs;
}

// O_NONBLOCK: a FIFO that takes the file's place must not hold anybody up; the flags are absent, that is 0, on Windows.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

interface Descriptor {
  fd: number;
  close(): Promise<void> | void;
}

type Open<D> = (realPath: string) => D | Promise<D>;

function openDescriptor(realPath: string) {
  const fd = openSync(osPath(realPath), flags);
  return { fd, close: () => closeSync(fd) };
}

// A file that an editor replaces while it is opened is met again on the next attempt; an attack never gets through.
const attempts = 5;

async function openRegularFile<D extends Descriptor>(realPath: string, openIt: Open<D>) {
  try {
    refuseSpecial(lstatSync(osPath(realPath), { bigint: true }), realPath);
    await refuseEndless(realPath);
    for (let attempt = 0; attempt < attempts; attempt++) {
      const file = await openVerified(realPath, openIt);
      if (file !== undefined) return file;
    }
  } catch (error) {
    // Somebody put a link where the judged file was.
    if (codeOf(error) !== 'ELOOP') throw readFailure(error, realPath);
  }
  throw new ToolError('read_content_failure', `${realPath} changed while it was being opened. Try again.`);
}

async function openVerified<D extends Descriptor>(realPath: string, openIt: Open<D>) {
  const descriptor = await openWhenPossible(realPath, openIt);
  try {
    const stat = fstatSync(descriptor.fd, { bigint: true });
    refuseSpecial(stat, realPath);
    if (await isAtPath(descriptor.fd, stat, realPath)) return { descriptor, stat };
  } catch (error) {
    await descriptor.close();
    throw error;
  }
  await descriptor.close();
  return undefined;
}

/** Waits for a descriptor when the process has used up its own. */
async function openWhenPossible<D>(realPath: string, openIt: Open<D>): Promise<D> {
  for (let waits = 0; ; waits++) {
    try {
      return await openIt(realPath);
    } catch (error) {
      const code = codeOf(error);
      if ((code !== 'EMFILE' && code !== 'ENFILE') || waits === maxWaits) throw error;
      await setTimeout(10);
    }
  }
}

const maxWaits = 500;

/** Whether what was opened lies at this very path, with no link on the way. */
export async function isAtPath(fd: number, stat: BigIntStats, realPath: string): Promise<boolean> {
  const link = linkOfDescriptor(fd);
  if (link !== undefined) return link === realPath;
  // Elsewhere the name is asked again: it must still lead, without a link, to the object that was opened.
  const now = lstatSync(osPath(realPath), { bigint: true });
  const isSame = now.dev === stat.dev && now.ino === stat.ino;
  return isSame && shownPath(await realpath(osPath(realPath), { encoding: 'buffer' })) === realPath;
}

/** What the kernel itself says an open descriptor is; only Linux answers. */
function linkOfDescriptor(fd: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return shownPath(readlinkSync(`/proc/self/fd/${fd}`, { encoding: 'buffer' }));
  } catch {
    return undefined;
  }
}

function refuseSpecial(stat: BigIntStats, path: string): void {
  if (stat.isFile()) return;
  if (stat.isDirectory())
    throw new ToolError('target_is_directory', `${path} is a directory. Use list_directory or glob to see its files.`);
  if (stat.isSymbolicLink()) throw new ToolError('read_content_failure', `${path} changed while it was being opened.`);
  const kind = stat.isFIFO() ? 'a named pipe' : stat.isSocket() ? 'a socket' : 'a device';
  throw new ToolError('target_not_regular_file', `${path} is ${kind}, not a regular file, and is not read.`);
}

const procFileSystem = 0x9fa0;
const endlessNames = new Set(['kcore', 'kmsg', 'mem', 'kpagecount', 'kpageflags', 'pagemap', 'event', 'trace_pipe']);

/** Files of the kernel that call themselves regular but are memory, or wait for events. */
export async function refuseEndless(path: string): Promise<void> {
  if (!endlessNames.has(basename(path)) || !/^\/(?:proc|sys)\//.test(path)) return;
  const { type } = await statfs(path);
  if (type === procFileSystem || path.startsWith('/sys/'))
    throw new ToolError('target_not_regular_file', `${path} is a window into the kernel, not a file, and is not read.`);
}
