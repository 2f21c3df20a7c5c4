import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './fs-error.js';

/**
 * Creates a directory and its missing parents, private unless `mode` says otherwise. Node's own recursive `mkdir` never
 * returns where the kernel reports a missing parent that exists, as it does below /proc.
 */
export function makeDirectory(path: string, mode = 0o700): void {
  for (const missing of missingDirectories(path)) {
    try {
      mkdirSync(missing, { mode });
    } catch (error) {
      // Another process may have been faster.
      if (codeOf(error) !== 'EEXIST' || !isDirectory(missing)) throw error;
    }
  }
}

/** The directories to create for `path`, outermost first. */
export function missingDirectories(path: string): string[] {
  if (isDirectory(path)) return [];
  const parent = dirname(path);
  return parent === path ? [path] : [...missingDirectories(parent), path];
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}
