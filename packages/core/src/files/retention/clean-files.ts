import { rmdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { StoredFile } from './stored-files.js';

/** What stays: what is newer than a time, as long as everything together is small enough. */
export interface KeepRule {
  /** Milliseconds since 1970; what was changed earlier goes. */
  since: number;
  /** Of one kind of state. The oldest goes first. */
  maxBytes: number;
}

export interface Removed {
  files: number;
  bytes: number;
}

export interface CleanOptions {
  rule: KeepRule;
  /** Whether a running process uses the file. */
  isInUse: (file: StoredFile) => boolean;
  /** Only counts what would be removed. */
  isDryRun?: boolean;
}

/** Removes what a rule does not keep and nobody uses, and then the folders that are empty. */
export async function cleanFiles(
  files: readonly StoredFile[],
  { rule, isInUse, isDryRun = false }: CleanOptions,
): Promise<Removed> {
  const removed: Removed = { files: 0, bytes: 0 };
  for (const file of outsideRule(files, rule, isInUse)) {
    if (!isDryRun && !(await remove(file.path))) continue;
    removed.files += 1;
    removed.bytes += file.bytes;
  }
  return removed;
}

/** The files that a rule does not keep, oldest first. */
export function outsideRule<T extends StoredFile>(
  files: readonly T[],
  { since, maxBytes }: KeepRule,
  isInUse: (file: T) => boolean,
): T[] {
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const oldestFirst = files.toSorted((a, b) => a.modified - b.modified);
  return oldestFirst.filter((file) => {
    const isOutside = (file.modified < since || total > maxBytes) && !isInUse(file);
    if (isOutside) total -= file.bytes;
    return isOutside;
  });
}

/** False when somebody else removed it first, or it cannot be removed. */
async function remove(path: string): Promise<boolean> {
  try {
    await unlink(path);
  } catch {
    return false;
  }
  // Fails, as it should, while the folder holds anything.
  await rmdir(dirname(path)).catch(() => undefined);
  return true;
}
