import { type Dirent, lstatSync } from 'node:fs';
import { Yielder } from '../../async/yielder.js';
import type { GlobState } from '../../text/glob/compile-glob.js';
import type { Visibility } from '../access/visibility.js';
import { asFolder, type BytePath, fromBytePath, systemPath } from '../byte-path.js';
import { codeOf } from '../fs-error.js';
import type { IgnoreLevel } from '../ignore/ignore-rules.js';
import { directoryEntries } from './directory-entries.js';
import { mountsToSkip } from './mounts.js';
import { hiddenByAgent, mountsNotEntered, unreadDirectories, unusedIgnoreFiles, WalkNotes } from './walk-notes.js';

export interface WalkOptions extends Visibility {
  /** A real path. */
  directory: BytePath;
  signal: AbortSignal;
  /** Directories in which nothing can match are not entered, files that do not match not reported. */
  glob?: GlobState;
  notes?: WalkNotes;
}

/** A directory, or the next entries of one that takes long to judge. */
export interface WalkedDirectory {
  /** Ends in a slash. */
  path: BytePath;
  /** Names of regular files. */
  files: string[];
  /** Names of symlinks, which are never followed. */
  links: string[];
}

/** Every directory below `directory` that is not ignored, with its files. */
export async function* walk(options: WalkOptions): AsyncGenerator<WalkedDirectory> {
  const { directory, rules, signal, notes = new WalkNotes() } = options;
  const mounts = mountsToSkip(directory);
  const level = rules.in(directory, (path, reason) => notes.add(unusedIgnoreFiles, path, reason));
  if (level.ignoredBy === 'agent' && options.disregard?.has('agent') !== true) notes.add(hiddenByAgent, directory);
  const pending: Folder[] = [{ path: asFolder(directory), glob: options.glob, levelOf: () => level }];
  const yielder = new Yielder(signal);
  for (let folder = takeNext(pending); folder !== undefined; folder = takeNext(pending)) {
    const mount = mounts.get(folder.path.slice(0, -1));
    if (mount !== undefined) {
      notes.add(mountsNotEntered, folder.path, mount);
      continue;
    }
    for (const { folders, ...part } of read(folder, options, notes, yielder)) {
      pending.push(...folders);
      yield part;
      if (yielder.shouldYield) await yielder.yield();
    }
  }
}

/** Broad trees are walked from the top, so that a search with a limit sees a bit of everything; the queue stays small. */
const maxBreadth = 1000;

function takeNext(pending: Folder[]): Folder | undefined {
  return pending.length < maxBreadth ? pending.shift() : pending.pop();
}

/** A directory still to be visited. */
interface Folder {
  path: BytePath;
  glob: GlobState | undefined;
  /** Reads the ignore files of the directory. */
  levelOf: () => IgnoreLevel;
}

interface Part extends WalkedDirectory {
  folders: Folder[];
}

const emptyPart = (path: BytePath): Part => ({ path, files: [], links: [], folders: [] });

function* read(folder: Folder, options: WalkOptions, notes: WalkNotes, yielder: Yielder): Generator<Part> {
  try {
    // With its last slash, the path would lead through a symlink that has replaced the directory.
    const stat = lstatSync(systemPath(folder.path === '/' ? '/' : folder.path.slice(0, -1)));
    if (!stat.isDirectory()) return notes.add(unreadDirectories, folder.path, 'ENOTDIR');
    const level = folder.levelOf();
    let part = emptyPart(folder.path);
    for (const entry of directoryEntries(folder.path)) {
      addEntry(part, entry, folder, level, options);
      if (!yielder.shouldYield) continue;
      yield part;
      part = emptyPart(folder.path);
    }
    yield part;
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    notes.add(unreadDirectories, folder.path, code);
  }
}

function addEntry(part: Part, entry: Dirent, folder: Folder, level: IgnoreLevel, options: WalkOptions): void {
  const { name } = entry;
  const isFile = entry.isFile();
  const isDirectory = !isFile && entry.isDirectory();
  if (!isFile && !isDirectory && !entry.isSymbolicLink()) return;
  if (!isDirectory && folder.glob?.matches(fromBytePath(name)) === false) return;
  if (level.hiderOf(name, isDirectory, options.disregard) !== undefined) return;
  if (options.canRead?.(fromBytePath(folder.path + name)) === false) return;
  if (isDirectory) part.folders.push(...enter(folder, name, level));
  else (isFile ? part.files : part.links).push(name);
}

function enter({ path, glob }: Folder, name: string, level: IgnoreLevel): Folder[] {
  const next = glob?.enter(fromBytePath(name));
  if (glob !== undefined && next === undefined) return [];
  return [{ path: `${path}${name}/`, glob: next, levelOf: () => level.enter(name) }];
}
