import { execFile } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { trustedPath } from '../run/trusted-path.js';

/** A tree of 100,000 files takes a fifth of a second. */
const timeoutMs = 1_000;
const maxOutputBytes = 200_000;

/**
 * All sockets below these directories. `undefined` if that is unknown: the tree is too large, or it contains a directory
 * that is not readable now but could be made readable.
 */
export async function socketsBelow(roots: readonly string[], path: string): Promise<string[] | undefined> {
  const find = trustedPath('find', { outside: roots, path });
  const user = process.getuid?.();
  if (find === undefined || user === undefined) return undefined;
  const unreadable = ['-type', 'd', '-user', `${user}`, '!', '-perm', '-500'];
  const args = [...roots, '(', '-type', 's', '-o', ...unreadable, ')', '-print0'];
  const found = await outputOf(find, args);
  const paths = found?.split('\0').filter((name) => name !== '');
  return paths?.every(isSocketOrGone) ? paths : undefined;
}

/** The sockets below these directories as far as they can be found, of which some may be gone. */
export function someSocketsBelow(directories: readonly string[], path: string): Promise<string[]> {
  return pathsFrom([...directories.filter((directory) => existsSync(directory)), '-type', 's'], path);
}

/** What only its owner may read. For root, who owns the keys of the system; others are kept out by the permissions. */
export async function privateFilesBelow(directory: string, path: string): Promise<string[]> {
  if (process.getuid?.() !== 0) return [];
  return pathsFrom(
    [directory, '!', '-perm', '-004', '(', '-type', 'd', '-o', '-type', 'f', '-size', '+0', ')', '-prune'],
    path,
  );
}

async function pathsFrom(args: readonly string[], path: string): Promise<string[]> {
  const find = trustedPath('find', { outside: [], path });
  const found = find && (await outputOf(find, [...args, '-print0']));
  return found?.split('\0').filter((name) => name !== '') ?? [];
}

/** The complete output; `undefined` if it was cut. Directories of other users cannot be entered, which is not a failure. */
function outputOf(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env: {}, cwd: '/', timeout: timeoutMs, maxBuffer: maxOutputBytes };
    execFile(program, args, options, (error, stdout) => {
      const isComplete = error === null || (error.code === 1 && error.killed !== true);
      resolve(isComplete ? stdout : undefined);
    });
  });
}

function isSocketOrGone(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? true;
  } catch {
    return false;
  }
}
