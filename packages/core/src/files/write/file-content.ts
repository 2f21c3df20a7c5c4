import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { ToolError } from '../../contract/errors.js';
import { type ReadableFile, readAsync } from '../open-file.js';

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

/** Waits until all work has settled, then throws the first failure: nothing goes on in the background. */
export async function allDone(work: readonly (Promise<void> | undefined)[]): Promise<void> {
  const outcomes = await Promise.allSettled(work.filter((one) => one !== undefined));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}
