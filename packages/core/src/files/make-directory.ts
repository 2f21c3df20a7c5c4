import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './fs-error.js';

/**
 * Creates a directory and its missing parents, private unless `mode` says otherwise. Returns the first one it created.
 * Node's own recursive `mkdir` never
 * returns where the kernel reports a missing parent that exists, as it does below /proc.
 */
export function makeDirectory(path: string, mode = 0o700): string | undefined {
  if (isDirectory(path)) return undefined;
  const parent = dirname(path);
  const first = parent === path ? undefined : makeDirectory(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have been faster.
    if (codeOf(error) !== 'EEXIST' || !isDirectory(path)) throw error;
  }
  return first ?? path;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}
