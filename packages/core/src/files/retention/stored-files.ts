import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LatheHome } from '../lathe-home.js';

/** Kinds of state that consist of files which belong to a session: its long output, its transcript, its pages. */
export type FileKind = 'spill' | 'sessions' | 'views';

/** A file of Lathe's own state. */
export interface StoredFile {
  path: string;
  bytes: number;
  /** Milliseconds since 1970. */
  modified: number;
  /** The session it belongs to; none for files of earlier versions. */
  owner?: string;
}

/** All files of a kind. */
export async function storedFiles(home: LatheHome, kind: FileKind): Promise<StoredFile[]> {
  const found = await filesBelow(home.file(kind), 2);
  return found.flatMap(({ folder, name, ...file }): StoredFile[] => {
    const owner = ownerOf(kind, folder, name);
    return owner === false ? [] : [{ ...file, ...(owner !== undefined && { owner }) }];
  });
}

/** `false` for a file that Lathe did not write. */
function ownerOf(kind: FileKind, folder: string, name: string): string | false | undefined {
  if (kind === 'spill') return folder === '' ? undefined : folder;
  const [, id] = /^([0-9a-f][0-9a-f-]{3,35})\.(?:jsonl|html)$/.exec(name) ?? [];
  return id ?? false;
}

interface Found extends Omit<StoredFile, 'owner'> {
  /** The name of its folder; empty at the top. */
  folder: string;
  name: string;
}

/** Regular files in a folder and its subfolders; symlinks are neither followed nor listed. */
export async function filesBelow(directory: string, levels: number, folder = ''): Promise<Found[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const found: Found[] = [];
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && levels > 1) found.push(...(await filesBelow(path, levels - 1, entry.name)));
    const info = entry.isFile() ? await lstat(path).catch(() => undefined) : undefined;
    if (info) found.push({ path, folder, name: entry.name, bytes: info.size, modified: info.mtimeMs });
  }
  return found;
}
