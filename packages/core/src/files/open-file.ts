import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  read,
  readlinkSync,
  readSync,
} from 'node:fs';
import { realpath, statfs } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { attempt, ToolError } from '../contract/errors.js';
import { osPath, shownPath } from './file-name.js';
import { codeOf, readFailure } from './fs-error.js';

/** A regular file, open for reading, proven to be the one at `path`. */
export interface ReadableFile {
  path: string;
  fd: number;
  stat: BigIntStats;
}

/**
 * Opens the regular file at a judged path, and only that one: no symlink is followed, nothing special is opened, and the
 * descriptor itself must say that it belongs to this path. If a directory is swapped for a symlink in between, the call
 * fails. A hard link is the file it names: what has a name inside the workspace is read as inside.
 * Opening and metadata are synchronous: judging the path has just fetched what they need, and threads cost ten times
 * more (`npm run bench -- --only 'read a small file'`).
 */
export async function withReadableFile<T>(realPath: string, use: (file: ReadableFile) => Promise<T>): Promise<T> {
  const file = await openRegularFile(realPath);
  try {
    return await use(file);
  } catch (error) {
    throw readFailure(error, realPath);
  } finally {
    close(file.fd);
  }
}

/** Nothing is written through the descriptor, so a failed close loses nothing. */
function close(fd: number): void {
  try {
    closeSync(fd);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
}

/** Whether the file was written to since it was opened. */
export function hasChanged({ fd, stat }: ReadableFile): boolean {
  const now = fstatSync(fd, { bigint: true });
  return now.size !== stat.size || now.mtimeNs !== stat.mtimeNs;
}

// O_NONBLOCK: opening a FIFO that takes the file's place must not block. Windows lacks these flags, so they are 0 there.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

// The next attempt finds a file that an editor replaced meanwhile; an attack never gets through.
const attempts = 5;

async function openRegularFile(realPath: string): Promise<ReadableFile> {
  try {
    refuseSpecial(lstatSync(osPath(realPath), { bigint: true }), realPath);
    await refuseEndless(realPath);
    for (let times = 0; times < attempts; times++) {
      const file = await openVerified(realPath);
      if (file !== undefined) return file;
    }
  } catch (error) {
    // A symlink has replaced the judged file.
    if (codeOf(error) !== 'ELOOP') throw readFailure(error, realPath);
  }
  throw new ToolError('read_content_failure', `${realPath} changed while it was being opened. Try again.`);
}

async function openVerified(realPath: string): Promise<ReadableFile | undefined> {
  const fd = await openWhenPossible(realPath);
  try {
    const stat = fstatSync(fd, { bigint: true });
    refuseSpecial(stat, realPath);
    if (await isAtPath(fd, stat, realPath)) return { path: realPath, fd, stat };
  } catch (error) {
    close(fd);
    throw error;
  }
  close(fd);
  return undefined;
}

/** Waits for a descriptor when the process has used up its own. */
async function openWhenPossible(realPath: string): Promise<number> {
  for (let waits = 0; ; waits++) {
    try {
      return openSync(osPath(realPath), flags);
    } catch (error) {
      const code = codeOf(error);
      if ((code !== 'EMFILE' && code !== 'ENFILE') || waits === maxWaits) throw error;
      await setTimeout(10);
    }
  }
}

const maxWaits = 500;

/** Whether the open file is at exactly this path, with no symlink on the way. */
async function isAtPath(fd: number, stat: BigIntStats, realPath: string): Promise<boolean> {
  const link = linkOfDescriptor(fd);
  if (link !== undefined) return link === realPath;
  // Without an answer from the kernel, the name must still lead, without a symlink, to the object that was opened.
  const now = lstatSync(osPath(realPath), { bigint: true });
  const isSame = now.dev === stat.dev && now.ino === stat.ino;
  return isSame && shownPath(await realpath(osPath(realPath), { encoding: 'buffer' })) === realPath;
}

/** The path of an open descriptor according to the kernel; only Linux answers. */
function linkOfDescriptor(fd: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return attempt(() => shownPath(readlinkSync(`/proc/self/fd/${fd}`, { encoding: 'buffer' })));
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

/** Kernel files that look regular but expose memory, or block until an event. */
export async function refuseEndless(path: string): Promise<void> {
  if (!endlessNames.has(basename(path)) || !/^\/(?:proc|sys)\//.test(path)) return;
  const { type } = await statfs(path);
  if (type === procFileSystem || path.startsWith('/sys/'))
    throw new ToolError('target_not_regular_file', `${path} is a window into the kernel, not a file, and is not read.`);
}

export const readAsync = promisify(read);

/** Reading this much from the page cache is faster than a thread: `npm run bench -- --only 'read a small file'`. */
const quickLength = 256 * 1024;

/** Reads until `length` bytes are there or the file ends; kernel files return one page at a time. */
export async function readFully(fd: number, buffer: Buffer, position: number, length: number): Promise<Buffer> {
  let filled = 0;
  while (filled < length) {
    const wanted = length - filled;
    const bytesRead =
      wanted <= quickLength
        ? readSync(fd, buffer, filled, wanted, position + filled)
        : (await readAsync(fd, buffer, filled, wanted, position + filled)).bytesRead;
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** The whole of a file whose size is known to be small enough. */
export function readWhole(fd: number, size: bigint): Promise<Buffer> {
  return readFully(fd, Buffer.allocUnsafe(Number(size)), 0, Number(size));
}

/** The same memory as a `Buffer`. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
