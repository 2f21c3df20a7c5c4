import { type BigIntStats, constants, fstatSync, lstatSync, readlinkSync } from 'node:fs';
import { type FileHandle, open, realpath, statfs } from 'node:fs/promises';
import { basename } from 'node:path';
import { ToolError } from '../errors.js';
import { osPath, shownPath } from './file-name.js';
import { codeOf, readFailure } from './fs-error.js';

/** A regular file, open for reading, proven to be the one at `path`. */
export interface OpenFile {
  path: string;
  handle: FileHandle;
  stat: BigIntStats;
}

/**
 * Opens the regular file at a judged path, and only that one: no link is followed, nothing special is opened, and the
 * descriptor itself must say that it belongs to this path. Whoever swaps a directory for a link in between gets an error.
 * Metadata is asked synchronously: it was fetched a moment ago when the path was judged, and a thread would cost more.
 */
export async function withOpenFile<T>(realPath: string, use: (file: OpenFile) => Promise<T>): Promise<T> {
  const file = await openRegularFile(realPath);
  try {
    return await use(file);
  } catch (error) {
    throw readFailure(error, realPath);
  } finally {
    await file.handle.close();
  }
}

/** Whether somebody wrote to the file since it was opened. */
export function hasChanged({ handle, stat }: OpenFile): boolean {
  const now = fstatSync(handle.fd, { bigint: true });
  return now.size !== stat.size || now.mtimeNs !== stat.mtimeNs;
}

// A file that an editor replaces while it is opened is met again on the next attempt; an attack never gets through.
const attempts = 5;

async function openRegularFile(realPath: string): Promise<OpenFile> {
  try {
    refuseSpecial(lstatSync(osPath(realPath), { bigint: true }), realPath);
    await refuseEndless(realPath);
    for (let attempt = 0; attempt < attempts; attempt++) {
      const file = await openVerified(realPath);
      if (file !== undefined) return file;
    }
  } catch (error) {
    // Somebody put a link where the judged file was.
    if (codeOf(error) !== 'ELOOP') throw readFailure(error, realPath);
  }
  throw new ToolError('read_content_failure', `${realPath} changed while it was being opened. Try again.`);
}

async function openVerified(realPath: string): Promise<OpenFile | undefined> {
  const handle = await openWhenPossible(realPath);
  try {
    const stat = fstatSync(handle.fd, { bigint: true });
    refuseSpecial(stat, realPath);
    if (await isAtPath(handle, stat, realPath)) return { path: realPath, handle, stat };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

// O_NONBLOCK: a FIFO that takes the file's place must not hold a thread; the flags are absent, that is 0, on Windows.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Waits for a descriptor when the process has used up its own. */
async function openWhenPossible(realPath: string): Promise<FileHandle> {
  for (let waits = 0; ; waits++) {
    try {
      return await open(osPath(realPath), flags);
    } catch (error) {
      const code = codeOf(error);
      if ((code !== 'EMFILE' && code !== 'ENFILE') || waits === maxWaits) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

const maxWaits = 500;

async function isAtPath(handle: FileHandle, stat: BigIntStats, realPath: string): Promise<boolean> {
  const link = linkOfDescriptor(handle.fd);
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
async function refuseEndless(path: string): Promise<void> {
  if (!endlessNames.has(basename(path)) || !/^\/(?:proc|sys)\//.test(path)) return;
  const { type } = await statfs(path);
  if (type === procFileSystem || path.startsWith('/sys/'))
    throw new ToolError('target_not_regular_file', `${path} is a window into the kernel, not a file, and is not read.`);
}
