import { lstat, readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../files/fs-error.js';

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
  const version = index.length < 12 ? 0 : index.readUInt32BE(4);
  if (index.length > maxIndexBytes || index.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 3)
    return undefined;
  const paths: string[] = [];
  let at = 12;
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const flags = index.readUInt16BE(at + 60);
    const start = at + (flags & 0x4000 ? 64 : 62);
    const end = index.indexOf(0, start);
    if (end === -1 || ((flags & 0xfff) !== 0xfff && end - start !== (flags & 0xfff))) return undefined;
    paths.push(index.toString('utf8', start, end));
    // Entries are padded with one to eight NULs, to a multiple of eight bytes.
    at += (end - at + 8) & ~7;
  }
  // The rest of a split index is in another file.
  return hasExtension(index, at, 'link') ? undefined : paths;
}

/** Extensions follow the entries, each with a name of four letters and its length. A checksum ends the file. */
function hasExtension(index: Buffer, start: number, name: string): boolean {
  for (let at = start; at + 8 <= index.length - 20; at += 8 + index.readUInt32BE(at + 4))
    if (index.toString('latin1', at, at + 4) === name) return true;
  return false;
}
