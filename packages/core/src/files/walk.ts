import { type Dirent, existsSync, opendirSync, readdirSync, type Stats, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { GlobState } from '../text/glob.js';
import { type BytePath, fromBytePath, systemPath } from './byte-path.js';
import { codeOf } from './fs-error.js';
import type { IgnoredBy, IgnoreLevel, IgnoreRules } from './ignore-rules.js';
import { mountsToSkip } from './mounts.js';
import { WalkNotes } from './walk-notes.js';

export interface WalkOptions {
  /** A real path. */
  directory: BytePath;
  rules: IgnoreRules;
  signal: AbortSignal;
  /** Whose ignore rules are left aside. */
  disregard?: ReadonlySet<IgnoredBy>;
  /** Directories in which nothing can match are not entered, files that do not match not reported. */
  glob?: GlobState;
  /** What the permission rules hide is treated as if it did not exist. */
  canRead?: ((path: string) => boolean) | undefined;
  notes?: WalkNotes;
}

/** A directory, or the next few thousand entries of a very large one. */
export interface WalkedDirectory {
  /** Ends in a slash. */
  path: BytePath;
  /** Names of regular files. */
  files: string[];
  /** Names of symbolic links, which are never followed. */
  links: string[];
  /** Regular files left out because of a rule; those that merely do not match are not counted. */
  hidden: number;
  /** Regular files that do not match the glob. */
  unmatched: number;
  /** No more entries of this directory will come. */
  isComplete: boolean;
}

/**
 * Every directory below `directory` that is not ignored, with its files. Calls into the file system are synchronous,
 * because that is several times faster than the thread pool, and made in slices of a few milliseconds. Links are not
 * followed, and a directory that is mounted inside itself is entered once, so every walk ends.
 */
export async function* walk(options: WalkOptions): AsyncGenerator<WalkedDirectory> {
  const { directory, rules, signal, notes = new WalkNotes() } = options;
  const mounts = await mountsToSkip(directory);
  const level = rules.in(directory, (path, reason) => notes.add('ignore files not used', path, reason));
  const path = directory === '/' ? '/' : `${directory}/`;
  const pending: Pending[] = [{ path, glob: options.glob, above: undefined, levelOf: () => level }];
  const slice = new Slice(signal);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const mount = mounts.get(next.path.slice(0, -1));
    if (mount === undefined) for (const part of read(next, options, notes, pending)) yield part;
    else notes.add('file systems not entered', next.path, mount);
    if (slice.isOver) await slice.pause();
  }
}

/** Lets the event loop run after every few milliseconds of work. */
export class Slice {
  readonly #signal: AbortSignal;
  #start = performance.now();

  constructor(signal: AbortSignal) {
    signal.throwIfAborted();
    this.#signal = signal;
  }

  get isOver(): boolean {
    return performance.now() - this.#start > sliceMs;
  }

  async pause(): Promise<void> {
    await setImmediate();
    this.#signal.throwIfAborted();
    this.#start = performance.now();
  }
}

const sliceMs = 8;
const partSize = 4096;
// The size that a file system gives a directory grows with its entries; beyond this one it is read part by part.
const largeDirectory = 64 << 10;

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

function* read(next: Pending, options: WalkOptions, notes: WalkNotes, pending: Pending[]): Generator<WalkedDirectory> {
  try {
    const stat = statSync(systemPath(next.path));
    if (isAncestor(stat, next.above)) return notes.add('directories mounted inside themselves', next.path);
    let level: IgnoreLevel | undefined;
    for (const { entries, isComplete } of partsOf(next.path, stat)) {
      level ??= next.levelOf(isComplete ? namesIn(entries) : (name) => existsSync(systemPath(next.path + name)));
      const part: WalkedDirectory = { path: next.path, files: [], links: [], hidden: 0, unmatched: 0, isComplete };
      sortInto(part, entries, { next, level, stat, options, pending });
      yield part;
    }
  } catch (error) {
    notes.add('directories that could not be read', next.path, codeOf(error) ?? String(error));
  }
}

function isAncestor({ dev, ino }: Stats, ancestor: Ancestor | undefined): boolean {
  for (let at = ancestor; at !== undefined; at = at.above) if (at.stat.ino === ino && at.stat.dev === dev) return true;
  return false;
}

function* partsOf(path: BytePath, { size }: Stats): Generator<{ entries: Dirent[]; isComplete: boolean }> {
  const where = systemPath(path);
  if (size <= largeDirectory) {
    yield { entries: readdirSync(where, { withFileTypes: true, encoding: 'latin1' }), isComplete: true };
    return;
  }
  const handle = opendirSync(where, { encoding: 'latin1', bufferSize: 1024 });
  try {
    for (let isComplete = false; !isComplete; ) {
      const entries: Dirent[] = [];
      for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
        if (entries.push(entry) === partSize) break;
      }
      isComplete = entries.length < partSize;
      yield { entries, isComplete };
    }
  } finally {
    handle.closeSync();
  }
}

const ignoreFileNames = new Set(['.git', '.gitignore', '.qwenignore', '.latheignore']);

function namesIn(entries: readonly Dirent[]): (name: string) => boolean {
  const present = new Set(entries.map(({ name }) => name).filter((name) => ignoreFileNames.has(name)));
  return (name) => present.has(name);
}

interface Visit {
  next: Pending;
  level: IgnoreLevel;
  stat: Stats;
  options: WalkOptions;
  pending: Pending[];
}

/** Puts what is not hidden where it belongs: files and links into the part, directories on the pile. */
function sortInto(part: WalkedDirectory, entries: readonly Dirent[], visit: Visit): void {
  const { glob } = visit.next;
  for (const entry of entries) {
    const { name } = entry;
    const isFile = entry.isFile();
    const isDirectory = !isFile && entry.isDirectory();
    if (!isFile && !isDirectory && !entry.isSymbolicLink()) continue;
    if (isHidden(name, isDirectory, visit)) part.hidden += isFile ? 1 : 0;
    else if (isDirectory) enterLater(name, visit);
    else if (glob === undefined || glob.matches(fromBytePath(name))) (isFile ? part.files : part.links).push(name);
    else part.unmatched += isFile ? 1 : 0;
  }
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
