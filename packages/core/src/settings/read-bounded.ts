import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { codeOf } from '../files/fs-error.js';

/** Far more than any hand-written settings file. */
export const maxSettingsBytes = 2 * 1024 * 1024;

/**
 * The text of a small regular file, or `undefined` when there is none. Opens the file without blocking and checks the
 * descriptor, so that a pipe, a device or a huge file is rejected at once.
 */
export function readBounded(
  path: string,
  maxBytes: number = maxSettingsBytes,
  inspect?: (info: Stats) => void,
): string | undefined {
  const bytes = readBytes(path, maxBytes, inspect);
  return bytes && decode(bytes);
}

/** As `readBounded`, for a file that need not be text. */
export function readBytes(path: string, maxBytes: number, inspect?: (info: Stats) => void): Buffer | undefined {
  const descriptor = openIfThere(path);
  if (descriptor === undefined) return undefined;
  try {
    const info = fstatSync(descriptor);
    if (!info.isFile()) throw new Error('It is not a regular file.');
    if (info.size > maxBytes) throw new Error(`It is larger than ${maxBytes} bytes.`);
    inspect?.(info);
    return readUpTo(descriptor, maxBytes);
  } finally {
    closeSync(descriptor);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0));
  } catch (error) {
    const code = codeOf(error);
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
    // The file may have grown since `fstat`.
    if (total > maxBytes) throw new Error(`It is larger than ${maxBytes} bytes.`);
    chunks.push(chunk.subarray(0, length));
  }
}

function decode(bytes: Buffer): string {
  // A TextDecoder would take milliseconds at start-up.
  if (!isUtf8(bytes)) throw new Error('It is not UTF-8 text.');
  return bytes.toString('utf8');
}

/**
 * Why the content of a file may come from somebody else: another owner than the user and root, or a mode that lets
 * others write. A group with the number of the owner is the owner's alone, as most distributions create them.
 */
export function foreignHand({ uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>): string | undefined {
  const user = process.getuid?.();
  if (user === undefined) return undefined;
  if (uid !== 0 && uid !== user) return `it belongs to another user (uid ${uid})`;
  const isShared = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== uid);
  return isShared ? `other users can write it (mode ${(mode & 0o777).toString(8)})` : undefined;
}
