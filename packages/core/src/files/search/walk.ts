import { type Dirent, lstatSync, type Stats } from 'node:fs';
import type { GlobState } from '../../text/glob/compile-glob.js';
import type { Visibility } from '../access/visibility.js';
import { asFolder, type BytePath, fromBytePath, systemPath } from '../byte-path.js';
import { codeOf } from '../fs-error.js';
import type { IgnoreLevel } from '../ignore/ignore-rules.js';
import { isThere } from '../small-file.js';
import { directoryParts } from './directory-parts.js';
import { mountsToSkip } from './mounts.js';
import { Slice } from './slice.js';
import {
  hiddenByAgent,
  mountLoops,
  mountsNotEntered,
  unreadDirectories,
  unusedIgnoreFiles,
  WalkNotes,
} from './walk-notes.js';

export interface WalkOptions extends Visibility {
  /** A real path. */
  directory: BytePath;
  signal: AbortSignal;
  /** Directories in which nothing can match are not entered, files that do not match not reported. */
  glob?: GlobState;
  notes?: WalkNotes;
}

/** A directory, or the next entries of one that is very large or takes long to judge. */
export interface WalkedDirectory {
  /** Ends in a slash. */
  path: BytePath;
  /** Names of regular files. */
  files: string[];
  /** Names of symbolic links, which are never followed. */
  links: string[];
  /** No more entries of this directory will come. */
  isComplete: boolean;
}

/**
 * Every directory below `directory` that is not ignored, with its files. Links are not
 * followed, and a directory that is mounted inside itself is entered once, so every walk ends.
 */
export async function* walk(options: WalkOptions): AsyncGenerator<WalkedDirectory> {
  const { directory, rules, signal, notes = new WalkNotes() } = options;
  const mounts = mountsToSkip(directory);
  const level = rules.in(directory, (path, reason) => notes.add(unusedIgnoreFiles, path, reason));
  if (level.ignoredBy === 'agent' && options.disregard?.has('agent') !== true) notes.add(hiddenByAgent, directory);
  const path = asFolder(directory);
  const pending: Pending[] = [{ path, glob: options.glob, above: undefined, levelOf: () => level }];
  const slice = new Slice(signal);
  for (let next = takeNext(pending); next !== undefined; next = takeNext(pending)) {
    const mount = mounts.get(next.path.slice(0, -1));
    if (mount !== undefined) {
      notes.add(mountsNotEntered, next.path, mount);
      continue;
    }
    for (const part of read(next, { options, notes, pending, slice })) {
      yield part;
      if (slice.isOver) await slice.pause();
    }
  }
}

/** Broad trees are walked from the top, so that a search with a limit sees a bit of everything; the pile stays small. */
const maxBreadth = 1000;

function takeNext(pending: Pending[]): Pending | undefined {
  return pending.length < maxBreadth ? pending.shift() : pending.pop();
}

/** A directory still to be visited. */
interface Pending {
  path: BytePath;
  glob: GlobState | undefined;
  above: Ancestor | undefined;
  /** `has` tells which names the directory holds. */
  levelOf(has: (name: string) => boolean): IgnoreLevel;
}

interface Ancestor {
  stat: Stats;
  above: Ancestor | undefined;
}

interface Walking {
  options: WalkOptions;
  notes: WalkNotes;
  pending: Pending[];
  slice: Slice;
}

function* read(next: Pending, { options, notes, pending, slice }: Walking): Generator<WalkedDirectory> {
  try {
    // The slash at the end would lead through a link that has taken the directory's place.
    const stat = lstatSync(systemPath(next.path === '/' ? '/' : next.path.slice(0, -1)));
    if (!stat.isDirectory()) return notes.add(unreadDirectories, next.path, 'ENOTDIR');
    if (isAncestor(stat, next.above)) return notes.add(mountLoops, next.path);
    let level: IgnoreLevel | undefined;
    for (const { entries, isComplete } of directoryParts(next.path, stat.size)) {
      if (level === undefined) {
        const has = isComplete ? namesIn(entries) : (name: string) => isThere(next.path + name);
        level = next.levelOf(has);
      }
      const visit = { next, level, stat, options, pending };
      let part = nothingOf(next.path);
      for (const entry of entries) {
        sortInto(part, entry, visit);
        if (!slice.tick()) continue;
        yield part;
        part = nothingOf(next.path);
      }
      yield { ...part, isComplete };
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    notes.add(unreadDirectories, next.path, code);
  }
}

function nothingOf(path: BytePath): WalkedDirectory {
  return { path, files: [], links: [], isComplete: false };
}

function isAncestor({ dev, ino }: Stats, ancestor: Ancestor | undefined): boolean {
  for (let at = ancestor; at !== undefined; at = at.above) if (at.stat.ino === ino && at.stat.dev === dev) return true;
  return false;
}

const ignoreFileNames = new Set(['.git', '.jj', '.gitignore', '.qwenignore', '.latheignore']);

function namesIn(entries: readonly Dirent[]): (name: string) => boolean {
  const present = new Set<string>();
  for (const { name } of entries) if (ignoreFileNames.has(name)) present.add(name);
  return (name) => present.has(name);
}

interface Visit {
  next: Pending;
  level: IgnoreLevel;
  stat: Stats;
  options: WalkOptions;
  pending: Pending[];
}

/** Puts an entry that is not hidden where it belongs: files and links into the part, directories on the pile. */
function sortInto(part: WalkedDirectory, entry: Dirent, visit: Visit): void {
  const { name } = entry;
  const isFile = entry.isFile();
  const isDirectory = !isFile && entry.isDirectory();
  if (!isFile && !isDirectory && !entry.isSymbolicLink()) return;
  if (!isDirectory && visit.next.glob?.matches(fromBytePath(name)) === false) return;
  if (isHidden(name, isDirectory, visit)) return;
  if (isDirectory) enterLater(name, visit);
  else (isFile ? part.files : part.links).push(name);
}

function isHidden(name: string, isDirectory: boolean, { next, level, options }: Visit): boolean {
  const verdict = level.judge(name, isDirectory);
  if (verdict !== undefined && (name === '.git' || options.disregard?.has(verdict) !== true)) return true;
  return options.canRead?.(fromBytePath(next.path + name)) === false;
}

function enterLater(name: string, { next, level, stat, pending }: Visit): void {
  const glob = next.glob?.enter(fromBytePath(name));
  if (next.glob !== undefined && glob === undefined) return;
  const above = { stat, above: next.above };
  pending.push({ path: `${next.path}${name}/`, glob, above, levelOf: (has) => level.enter(name, has) });
}
