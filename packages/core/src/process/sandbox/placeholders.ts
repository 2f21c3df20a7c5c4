import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../files/fs-error.js';
import { isAlive } from '../run/process-tree.js';

/**
 * A placeholder is a directory in the workspace that stands in for a protected name which does not exist, so that
 * bubblewrap can cover the name. Removing it would uncover the name in every sandbox that uses it, also in those of
 * another Lathe. So each command puts an empty directory of its own into it: the kernel removes no directory that has
 * content, and git does not list empty directories.
 */
const holderName = /^\.held-(kept|\d+)-[0-9a-f]+$/;

/** Whether the directory exists only because of running commands. */
export function isPlaceholder(path: string): boolean {
  const names = namesIn(path);
  return names.length > 0 && names.every((name) => holderName.test(name));
}

/** Creates the placeholders. Returns the directories to remove afterwards, in this order. */
export function holdPlaceholders(paths: readonly string[], { isKept }: { isKept: boolean }): string[] {
  const holders = paths.map((path) =>
    join(path, `.held-${isKept ? 'kept' : process.pid}-${randomBytes(6).toString('hex')}`),
  );
  for (const holder of holders) makeHolder(holder);
  return [...holders, ...paths];
}

/** Removes the placeholders that no other command holds. */
export function releasePlaceholders(directories: readonly string[]): void {
  for (const path of directories) if (!removeEmpty(path) && isPlaceholder(path)) removeAbandoned(path);
}

/** Another Lathe may remove the placeholder between the two steps of `mkdir`. */
function makeHolder(holder: string, attempts = 10): void {
  try {
    mkdirSync(holder, { recursive: true });
  } catch (error) {
    if (attempts === 0 || codeOf(error) !== 'ENOENT') throw error;
    makeHolder(holder, attempts - 1);
  }
}

/** Removes what a Lathe left behind that died together with its helper. */
function removeAbandoned(path: string): void {
  for (const name of namesIn(path)) {
    const pid = Number(holderName.exec(name)?.[1]);
    if (pid > 0 && !isAlive(pid)) removeEmpty(join(path, name));
  }
  removeEmpty(path);
}

function removeEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch {
    // It has content or is gone already: either way it is not ours to remove.
    return false;
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
