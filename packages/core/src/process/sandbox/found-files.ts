import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
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

/**
 * Read-only mounts do not stop a connection, so sockets elsewhere are covered too: those of this network namespace, which
 * the kernel lists by the path they were bound to.
 */
export function boundSockets(): string[] {
  try {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
    const paths = lines.map((line) => /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1] ?? '').filter((path) => path !== '');
    return [...new Set(paths)].filter((path) => isSocket(path) && isReachable(path));
  } catch {
    return [];
  }
}

/** False in a directory that this user cannot enter: the command cannot reach such a socket either. */
export function isSocket(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
  } catch {
    return false;
  }
}

/** Inside a user namespace root cannot enter the private directories of others, nor cover anything there. */
export function isReachable(path: string): boolean {
  if (process.getuid?.() !== 0) return true;
  const parents = parentsOf(path).map((parent) => statSync(parent, { throwIfNoEntry: false }));
  return parents.every((info) => info === undefined || info.uid === 0 || (info.mode & 0o001) !== 0);
}

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === '/' ? [] : [...parentsOf(parent), parent];
}
