import { fstatSync } from 'node:fs';
import { ToolError } from '../../contract/errors.js';
import { codeOf } from '../fs-error.js';
import { type ReadableFile, readAsync, withReadableFile } from '../open-file.js';
import { hashOf, readContent, startsWith } from './file-content.js';

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
