import { createHash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { ToolError } from '../../contract/errors.js';
import { codeOf } from '../fs-error.js';
import { type ReadableFile, readAsync, withReadableFile } from '../open-file.js';

/** A file's content at one moment. */
export interface Snapshot {
  path: string;
  bytes: Buffer;
  hash: string;
  /** How many names the file has besides this one. */
  otherNames: number;
}

/** Opens the file at a judged path for `use`; `null` when there is none. */
export async function withFileIfAny<T>(path: string, use: (file: ReadableFile | null) => Promise<T>): Promise<T> {
  let wasOpened = false;
  try {
    return await withReadableFile(path, (file) => {
      wasOpened = true;
      return use(file);
    });
  } catch (error) {
    if (wasOpened || !isMissing(error)) throw error;
  }
  return use(null);
}

function isMissing(error: unknown): boolean {
  return error instanceof ToolError && error.type === 'file_not_found' && codeOf(error.cause) === 'ENOENT';
}

export async function snapshotOf(file: ReadableFile, signal: AbortSignal): Promise<Snapshot> {
  const bytes = await readContent(file, signal);
  return { path: file.path, bytes, hash: await hashOf([bytes]), otherNames: Number(file.stat.nlink) - 1 };
}

/** With a coarse clock, a newer time stamp may hide a later change in the same tick. */
const coarseMs = 3000;

/** Throws when the open file no longer has the content of the snapshot. Unchanged time stamps save a second read. */
export async function assertUnchanged(file: ReadableFile, snapshot: Snapshot, signal: AbortSignal): Promise<void> {
  const now = fstatSync(file.fd, { bigint: true });
  const { size, mtimeNs, ctimeNs } = file.stat;
  const isSettled = Date.now() - Number(now.ctimeMs) > coarseMs;
  if (isSettled && now.size === size && now.mtimeNs === mtimeNs && now.ctimeNs === ctimeNs) return;
  signal.throwIfAborted();
  const source: Parameters<typeof startsWith>[0] = { read: (...args) => readAsync(file.fd, ...args) };
  const isSame = Number(now.size) === snapshot.bytes.length && (await startsWith(source, [snapshot.bytes]));
  if (!isSame) throw changedSince(file.path);
}

export function changedSince(path: string): ToolError {
  return new ToolError(
    'file_changed_since_read',
    `${path} was changed by another program meanwhile. Nothing was written; read it again.`,
  );
}

/** Larger files are rejected before a byte of them is read. */
export const maxEditBytes = 256 << 20;

/** All bytes of a file that is small enough to be edited. */
export async function readContent({ fd, path, stat }: ReadableFile, signal: AbortSignal): Promise<Buffer> {
  if (stat.size > maxEditBytes) {
    const size = `${Math.round(Number(stat.size) / (1 << 20))} MB`;
    throw new ToolError('file_too_large', `${path} has ${size}; files over ${maxEditBytes >> 20} MB are not edited`);
  }
  // One byte more than expected, to notice a file that grows.
  const buffer = Buffer.allocUnsafe(Number(stat.size) + 1);
  let length = 0;
  while (length < buffer.length) {
    signal.throwIfAborted();
    const { bytesRead } = await readAsync(fd, buffer, length, Math.min(chunkSize, buffer.length - length), length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length === buffer.length)
    throw new ToolError('file_changed_since_read', `${path} is growing while it is read; try again`);
  return buffer.subarray(0, length);
}

interface ByteSource {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

interface ByteSink {
  write(bytes: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesWritten: number }>;
}

/** Whether the file begins with exactly these bytes. */
export async function startsWith(handle: ByteSource, pieces: readonly Uint8Array[]): Promise<boolean> {
  const buffer = Buffer.allocUnsafe(chunkSize);
  let position = 0;
  for (const chunk of chunksOf(pieces)) {
    for (let done = 0; done < chunk.length; ) {
      const { bytesRead } = await handle.read(buffer, 0, chunk.length - done, position + done);
      if (bytesRead === 0 || buffer.compare(chunk, done, done + bytesRead, 0, bytesRead) !== 0) return false;
      done += bytesRead;
    }
    position += chunk.length;
  }
  return true;
}

/** Writes all of these bytes, however few the device takes at a time. */
export async function writeAll(handle: ByteSink, pieces: readonly Uint8Array[], signal?: AbortSignal): Promise<void> {
  let position = 0;
  for (const chunk of chunksOf(pieces)) {
    signal?.throwIfAborted();
    for (let done = 0; done < chunk.length; ) {
      const { bytesWritten } = await handle.write(chunk, done, chunk.length - done, position + done);
      if (bytesWritten === 0) throw new ToolError('file_write_failure', 'The device accepts no more bytes');
      done += bytesWritten;
    }
    position += chunk.length;
  }
}

/** Large enough for fast transfers, small enough to let other work run in between. */
export const chunkSize = 2 << 20;

/** The hash of a content for `SeenFiles` and the journal, computed without blocking the event loop. */
export async function hashOf(pieces: readonly Uint8Array[]): Promise<string> {
  const hash = createHash('sha256');
  for (const chunk of chunksOf(pieces)) {
    hash.update(chunk);
    if (chunk.length === chunkSize) await turn();
  }
  return hash.digest('base64url');
}

/** The pieces as chunks of limited size: large pieces are split without copying, small ones joined. */
export function* chunksOf(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; ) {
      const part = piece.subarray(start, start + chunkSize - size);
      gathered.push(part);
      size += part.length;
      start += part.length;
      if (size < chunkSize) continue;
      yield gathered.length === 1 ? part : Buffer.concat(gathered);
      gathered = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(gathered);
}
