import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** No hand-written settings file comes near it. */
export const maxSettingsBytes = 2 * 1024 * 1024;

/**
 * The text of a small regular file, or `undefined` when there is none. Opened without blocking and judged on the
 * descriptor, so that a pipe, a device or a huge file in its place costs nothing.
 */
export function readBounded(path: string, maxBytes: number = maxSettingsBytes): string | undefined {
  const descriptor = openIfThere(path);
  if (descriptor === undefined) return undefined;
  try {
    const info = fstatSync(descriptor);
    if (!info.isFile()) throw new Error('It is not a regular file.');
    if (info.size > maxBytes) throw new Error(`It is larger than ${maxBytes} bytes.`);
    return decode(readUpTo(descriptor, maxBytes));
  } finally {
    closeSync(descriptor);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(`It cannot be opened (${String(code)}).`, { cause: error });
  }
}

function readUpTo(descriptor: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  for (let total = 0; ; ) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const length = readSync(descriptor, chunk);
    if (length === 0) return Buffer.concat(chunks);
    total += length;
    // It may have grown since it was measured.
    if (total > maxBytes) throw new Error(`It is larger than ${maxBytes} bytes.`);
    chunks.push(chunk.subarray(0, length));
  }
}

function decode(bytes: Buffer): string {
  // A TextDecoder would say the same, and cost milliseconds at start-up.
  if (!isUtf8(bytes)) throw new Error('It is not UTF-8 text.');
  return bytes.toString('utf8');
}
