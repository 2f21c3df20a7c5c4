import { type Dirent, lstatSync, readlinkSync, statSync } from 'node:fs';
import { Yielder } from '../../async/yielder.js';
import { attempt } from '../../contract/errors.js';
import { compileGlob } from '../../text/glob/compile-glob.js';
import { Top } from '../../text/top.js';
import { mayShowLink, type Visibility } from '../access/visibility.js';
import { asFolder, type BytePath, fromBytePath, systemPath } from '../byte-path.js';
import { codeOf } from '../fs-error.js';
import type { IgnoredBy } from '../ignore/ignore-rules.js';
import { directoryEntries } from './directory-entries.js';
import { unusedIgnoreFiles, WalkNotes } from './walk-notes.js';

export interface ListOptions extends Visibility {
  /** A real path. */
  directory: BytePath;
  /** Globs of names to leave out. */
  ignore: readonly string[];
  /** How many entries are described. */
  limit: number;
  signal: AbortSignal;
}

export interface Listing {
  /** One line each, directories first. */
  lines: string[];
  /** Entries to show in all, described or not. */
  total: number;
  /** Entries left out, by the reason. */
  hidden: Record<IgnoredBy | 'pattern', number>;
  notes: WalkNotes;
}

/** The entries of one directory. Memory is bounded by `limit`, not by the directory. */
export async function listDirectory({
  directory,
  ignore,
  limit,
  signal,
  ...visibility
}: ListOptions): Promise<Listing> {
  const notes = new WalkNotes();
  const level = visibility.rules.in(directory, (path, reason) => notes.add(unusedIgnoreFiles, path, reason));
  const patterns = ignore.map((pattern) => compileGlob(pattern).start);
  const hidden = { git: 0, agent: 0, pattern: 0 };
  const entries = new Top<Entry>(limit, directoriesFirst);
  const prefix = asFolder(directory);
  const yielder = new Yielder(signal);
  for (const found of directoryEntries(directory)) {
    const entry = entryOf(prefix, found);
    if (!mayShow(prefix + entry.name, entry, visibility)) continue;
    const isExcluded = patterns.some((pattern) => pattern.matches(fromBytePath(entry.name)));
    // Git takes a symlink for a file, whatever it leads to.
    const isFolder = entry.isDirectory && !entry.isLink;
    const reason = isExcluded ? 'pattern' : level.hiderOf(entry.name, isFolder, visibility.disregard);
    if (reason === undefined) entries.add(entry);
    else hidden[reason]++;
    if (yielder.shouldYield) await yielder.yield();
  }
  return { lines: entries.items().map((entry) => describe(prefix, entry)), total: entries.count, hidden, notes };
}

interface Entry {
  /** One character per byte. */
  name: string;
  isLink: boolean;
  /** A directory, or a link to one. */
  isDirectory: boolean;
}

function entryOf(prefix: BytePath, found: Dirent): Entry {
  const isLink = found.isSymbolicLink();
  return {
    name: found.name,
    isLink,
    isDirectory: isLink
      ? attempt(() => statSync(systemPath(prefix + found.name)).isDirectory()) === true
      : found.isDirectory(),
  };
}

function mayShow(path: BytePath, { isLink }: Entry, visibility: Visibility): boolean {
  return isLink ? mayShowLink(path, visibility) : visibility.canRead?.(fromBytePath(path)) !== false;
}

function directoriesFirst(a: Entry, b: Entry): number {
  return Number(b.isDirectory) - Number(a.isDirectory) || (a.name < b.name ? -1 : 1);
}

function describe(prefix: BytePath, { name, isDirectory, isLink }: Entry): string {
  const shown = fromBytePath(name);
  if (isLink) return `${isDirectory ? '[DIR] ' : ''}${shown} -> ${targetOf(prefix + name)}`;
  return isDirectory ? `[DIR] ${shown}` : `${shown} (${kindOf(prefix + name)})`;
}

function targetOf(path: BytePath): string {
  try {
    const target = fromBytePath(readlinkSync(systemPath(path), { encoding: 'latin1' }));
    return statSync(systemPath(path), { throwIfNoEntry: false }) === undefined ? `${target} (missing)` : target;
  } catch (error) {
    return `(${codeOf(error) ?? String(error)})`;
  }
}

function kindOf(path: BytePath): string {
  try {
    const stat = lstatSync(systemPath(path));
    if (stat.isFile()) return formatSize(stat.size);
    return stat.isFIFO() ? 'pipe' : stat.isSocket() ? 'socket' : 'device';
  } catch (error) {
    return codeOf(error) ?? String(error);
  }
}

/** `17`, `4.2K`, `130M`: short, because every entry has one. */
function formatSize(bytes: number): string {
  const units = ['', 'K', 'M', 'G', 'T', 'P'];
  const step = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log2(bytes / 1000) / 10) + 1, units.length - 1);
  const value = bytes / 1024 ** step;
  return `${step === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)}${units[step]}`;
}
