import { lstat, readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../files/fs-error.js';
import { readIndex } from './git-index.js';

const maxIndexBytes = 33_554_432;
const maxDirectories = 20_000;

/**
 * Why a search through the tracked files of the work tree around this directory could read files elsewhere: git follows
 * a symlink that has replaced a directory. `undefined` if it could not.
 */
export async function trackedLink(directory: string): Promise<string | undefined> {
  try {
    for (let at = await realpath(directory); ; at = dirname(at)) {
      const entry = await lstat(join(at, '.git')).catch(() => undefined);
      if (entry) return await linkIn(at, trackedDirectories(await readFile(join(at, '.git', 'index'))));
      if (at === dirname(at)) return undefined;
    }
  } catch (error) {
    // Nothing is tracked yet.
    return codeOf(error) === 'ENOENT' ? undefined : 'the list of tracked files cannot be read';
  }
}

async function linkIn(workTree: string, directories: ReadonlySet<string> | undefined): Promise<string | undefined> {
  if (!directories || directories.size > maxDirectories) return 'the list of tracked files cannot be read';
  for (const name of directories) {
    const info = await lstat(Buffer.from(`${workTree}/${name}`)).catch(() => undefined);
    if (info?.isSymbolicLink()) return `${name} is a symlink in place of a directory`;
  }
  return undefined;
}

/** The directories that contain tracked files; `undefined` for an index in an unknown format. */
function trackedDirectories(index: Buffer): Set<string> | undefined {
  const paths = indexPaths(index);
  if (!paths) return undefined;
  const directories = new Set<string>();
  for (const path of paths) {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const name = path.slice(0, slash);
      if (directories.has(name)) break;
      directories.add(name);
    }
  }
  return directories;
}

/** The tracked files, relative to the work tree; `undefined` for an index in an unknown format. */
export function indexPaths(index: Buffer): string[] | undefined {
  const entries = index.length > maxIndexBytes ? undefined : readIndex(index);
  return entries?.map(({ name }) => name.toString('utf8'));
}
