import { lstatSync, realpathSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Yielder } from '../../async/yielder.js';
import { attempt } from '../../contract/errors.js';
import { Top } from '../../text/top.js';
import { mayShowLink, type Visibility } from '../access/visibility.js';
import { asFolder, type BytePath, fromBytePath, splitPath, systemPath } from '../byte-path.js';
import { codeOf } from '../fs-error.js';
import { directoryEntries } from './directory-entries.js';
import { printedPaths, type Ripgrep, RipgrepTooLarge } from './ripgrep.js';
import { Complaints, startError } from './ripgrep-error.js';
import { isInPlaceNow } from './search-place.js';
import { openTree, type SearchGlob, type SearchTree } from './search-tree.js';
import type { WalkNotes } from './walk-notes.js';

export interface FoundFile {
  /** Absolute, as Lathe shows it. */
  path: string;
  mtimeMs: number;
}

export interface FindOptions extends Visibility {
  /** A real path. */
  directory: BytePath;
  glob?: SearchGlob;
  /** How many files to return; the newest are kept. */
  limit: number;
  /** After this long the files found so far are returned. */
  timeoutMs: number;
  signal: AbortSignal;
  notes: WalkNotes;
  /** Whether a symlink to this real path is listed. */
  isInside: (path: string) => boolean;
}

export interface FoundFiles {
  files: FoundFile[];
  /** How many there are in all, or at least. */
  total: number;
  isComplete: boolean;
}

/** The newest files below a directory, listed by ripgrep, and how many there are. Memory is bounded by `limit`. */
export async function findFiles(ripgrep: Ripgrep, options: FindOptions): Promise<FoundFiles> {
  const time = AbortSignal.timeout(options.timeoutMs);
  const newest = new Top<FoundFile>(options.limit, newestFirst);
  const resultOf = (isComplete: boolean) => ({ ...placedFiles(newest, options.notes), isComplete });
  try {
    const tree = openTree(options);
    const signal = AbortSignal.any([options.signal, time]);
    if (tree !== undefined) await listFiles(ripgrep, tree, { ...options, signal }, newest);
    return resultOf(true);
  } catch (error) {
    options.signal.throwIfAborted();
    if (time.aborted || error instanceof RipgrepTooLarge) return resultOf(false);
    throw startError(error);
  }
}

/** Leaves a core to read the time of every file meanwhile: `npm run bench -- --only 'glob \*\*'`. */
const listFlags = ['--files', '--null', `--threads=${Math.max(1, availableParallelism() - 1)}`];

async function listFiles(
  ripgrep: Ripgrep,
  tree: SearchTree,
  options: FindOptions,
  newest: Top<FoundFile>,
): Promise<void> {
  const { path, flags, visible } = tree;
  const { signal, notes } = options;
  const links = new LinkedFiles(tree, options);
  const yielder = new Yielder(signal);
  const nameOf = printedPaths(path);
  const complaints = new Complaints(notes, { nameOf, isShown: (file) => visible.has(file) });
  let [rest, isEmpty, last] = ['', true, ''];
  const addLinks = async (directory: BytePath) => {
    for (const link of await links.upFrom(directory, yielder)) addFile(newest, link, notes, statSync);
  };
  const onOutput = async (chunk: Buffer) => {
    const printed = (rest + chunk.toString('latin1')).split('\0');
    rest = printed.pop() ?? '';
    for (const name of printed) {
      const file = nameOf(name);
      if (visible.has(file)) addFile(newest, file, notes);
      const [directory] = splitPath(file);
      if (directory !== last) await addLinks(directory);
      last = directory;
      if (yielder.shouldYield) await yielder.yield();
    }
    isEmpty = false;
  };
  const onError = (chunk: Buffer) => complaints.push(chunk);
  const code = await ripgrep.run([...listFlags, ...flags], { path, signal, onOutput, onError });
  await addLinks(asFolder(path));
  complaints.checkEnd(code, { isEmpty, isGarbled: rest !== '' });
}

function addFile(newest: Top<FoundFile>, path: BytePath, notes: WalkNotes, look = lstatSync): void {
  const mtimeMs = timeOf(path, look);
  if (mtimeMs === undefined) return;
  // Most are older than those that are kept.
  if (mtimeMs < (newest.last?.mtimeMs ?? mtimeMs)) newest.skip();
  else newest.add({ path, mtimeMs });
  if (mtimeMs === unknownTime) notes.add('last, because their age could not be read', path);
}

/** For a file in a directory that may be listed but not entered; older than all others. */
const unknownTime = Number.NEGATIVE_INFINITY;

/** `undefined` when the file was removed or replaced since it was listed. */
function timeOf(path: BytePath, look: typeof lstatSync): number | undefined {
  try {
    const stat = look(systemPath(path), { throwIfNoEntry: false });
    return stat?.isFile() === true ? stat.mtimeMs : undefined;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return unknownTime;
  }
}

/** The newest files, without those whose directory became a symlink while ripgrep listed it. */
function placedFiles(newest: Top<FoundFile>, notes: WalkNotes): Omit<FoundFiles, 'isComplete'> {
  const kept = newest.items();
  const files = kept.filter(({ path }) => isInPlaceNow(splitPath(path)[0].slice(0, -1) || '/'));
  const moved = kept.filter((file) => !files.includes(file));
  for (const { path } of moved) notes.add('moved during the search and not shown', path);
  return {
    files: files.map(({ path, mtimeMs }) => ({ path: fromBytePath(path), mtimeMs })),
    total: newest.count - moved.length,
  };
}

function newestFirst(a: FoundFile, b: FoundFile): number {
  return b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1);
}

interface LinkOptions extends Visibility {
  /** Whether a symlink may lead to this real path. */
  isInside: (path: string) => boolean;
  notes: WalkNotes;
}

/** Reading this many costs some 40 ms. */
const maxFolders = 2000;

/**
 * Symlinks to files, which `rg --files` leaves out, in the directories in which ripgrep found files and those above
 * them. With `--follow`, ripgrep would walk everything that a symlink leads to, outside the workspace too.
 */
class LinkedFiles {
  readonly #tree: SearchTree;
  readonly #options: LinkOptions;
  readonly #read = new Set<BytePath>();

  constructor(tree: SearchTree, options: LinkOptions) {
    this.#tree = tree;
    this.#options = options;
  }

  /** Those in a directory, which ends in a slash, and in the ones above it, unless they were returned before. */
  async upFrom(directory: BytePath, yielder: Yielder): Promise<BytePath[]> {
    const top = asFolder(this.#tree.path);
    const links: BytePath[] = [];
    for (
      let folder = directory;
      folder.startsWith(top) && !this.#read.has(folder);
      [folder] = splitPath(folder.slice(0, -1))
    ) {
      if (this.#read.size === maxFolders) {
        this.#options.notes.add('symlinks not looked for', folder);
        break;
      }
      this.#read.add(folder);
      if (this.#tree.visible.has(folder)) await this.#addLinks(links, folder, yielder);
    }
    return links;
  }

  async #addLinks(links: BytePath[], folder: BytePath, yielder: Yielder): Promise<void> {
    const { rules, disregard } = this.#options;
    try {
      for (const entry of directoryEntries(folder)) {
        if (yielder.shouldYield) await yielder.yield();
        if (!entry.isSymbolicLink() || !this.#isShown(folder + entry.name)) continue;
        const hider = rules.in(folder.slice(0, -1)).hiderOf(entry.name, false, disregard);
        if (hider === undefined) links.push(folder + entry.name);
      }
    } catch (error) {
      // ripgrep complains about a directory that cannot be read.
      if (codeOf(error) === undefined) throw error;
    }
  }

  #isShown(path: BytePath): boolean {
    if (!this.#tree.visible.has(path) || !mayShowLink(path, this.#options)) return false;
    const isShown = attempt(() => {
      const real = realpathSync.native(systemPath(path), { encoding: 'latin1' });
      return this.#options.isInside(fromBytePath(real)) && statSync(systemPath(real)).isFile();
    });
    // It may lead nowhere.
    return isShown ?? false;
  }
}
