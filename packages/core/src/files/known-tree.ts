import { type Dirent, lstatSync, type Stats } from 'node:fs';
import { type BytePath, systemPath } from './byte-path.js';
import { directoryParts } from './directory-parts.js';
import { maxIgnoreFile } from './ignore-rules.js';
import { hasOnlyPlainRules, rulesProblem } from './plain-rules.js';
import { isSuspect, secretFiles, tellingNames } from './secret-files.js';
import { Slice } from './slice.js';
import { isThere, readSmallFile } from './small-file.js';
import type { VisiblePaths } from './visible-paths.js';
import { type WalkOptions, type WalkWitness, walk } from './walk.js';
import { isWholeWalk, WalkNotes } from './walk-notes.js';

/** Directories and ignore files of a tree. */
const maxEntries = 10_000;
const maxTelling = 20;
const maxEndings = 200;

/** Where one of these is, others than the `.gitignore` files have a say. */
const oddNames = ['.git', '.jj', '.qwenignore', '.latheignore'];

/** Something with a telling name that ripgrep is told to leave out and our rules show. */
export interface Telling {
  path: BytePath;
  isDirectory: boolean;
}

/** How to walk a tree, or a part of it. */
export type TreeWalk = Pick<WalkOptions, 'rules' | 'signal'>;

/**
 * The directories of a repository and its `.gitignore` files, which mean the same to git and to ripgrep. Asking for their
 * times is far less work than walking all of it again, and tells whether that still holds.
 */
export class KnownTree implements WalkWitness {
  /** Whether ripgrep shows all that git shows. */
  #isPlain = true;
  /** Whether the rules were taken for letters in any case. */
  readonly ignoresCase: boolean;
  readonly #top: BytePath;
  readonly #settledMs: number;
  /** By path, which ends in a slash for a directory. */
  readonly #seen = new Map<BytePath, Identity>();
  /** The outermost ones; what is in them does not matter here. */
  readonly #telling = new Set<BytePath>();
  /** What the names of files that a rule hides end in, and those of directories. */
  readonly #hidden = new Set<string>();
  readonly #entered = new Set<string>();

  constructor(directory: BytePath, { ignoresCase, settledMs }: { ignoresCase: boolean; settledMs: number }) {
    this.#top = `${directory}/`;
    this.ignoresCase = ignoresCase;
    this.#settledMs = settledMs;
  }

  get telling(): Telling[] {
    return [...this.#telling].map((path) =>
      path.endsWith('/') ? { path: path.slice(0, -1), isDirectory: true } : { path, isDirectory: false },
    );
  }

  /** Whether one of these patterns for extensions may match a file that a rule hides. */
  hidesSome(names: readonly string[]): boolean {
    return this.#hidden.size > maxEndings || names.some((name) => this.#hidden.has(endingOf(name)));
  }

  /** The same for directories that are shown. */
  entersSome(names: readonly string[]): boolean {
    return this.#entered.size > maxEndings || names.some((name) => this.#entered.has(endingOf(name)));
  }

  /** Whether there is an ignore file or the like, for a path in a tree that has not changed. */
  has(path: BytePath): boolean {
    return this.#seen.has(path.slice(0, path.lastIndexOf('/') + 1)) ? this.#seen.has(path) : isThere(path);
  }

  /** Walks all of the tree, or a directory of it. Returns false when ripgrep cannot be left alone with it. */
  async learn(treeWalk: TreeWalk, directory = this.#top.slice(0, -1)): Promise<boolean> {
    const notes = new WalkNotes();
    for await (const { path, files } of walk({ ...treeWalk, directory, notes, witness: this })) {
      for (const name of files) if (isSuspect(name)) this.#addSuspect(path, name);
      if (!this.#isPlain) return false;
    }
    return isWholeWalk(notes);
  }

  enter(path: BytePath, stat: Stats, has: (name: string) => boolean): void {
    if (!this.#isPlain || this.#isApart(path)) return;
    this.#seen.set(path, this.#identityOf(stat));
    const name = path.slice(path.lastIndexOf('/', path.length - 2) + 1, -1);
    addEnding(this.#entered, name);
    if (path !== this.#top && tellingNames.includes(name)) this.#telling.add(path);
    else if (path !== this.#top && (isSuspect(`${name}/`) || oddNames.some(has))) this.#isPlain = false;
    else if (has('.gitignore')) this.#isPlain = this.#addIgnoreFile(`${path}.gitignore`);
    this.#limit();
  }

  hide(name: string): void {
    addEnding(this.#hidden, name);
  }

  #isApart(path: BytePath): boolean {
    return this.#telling.size > 0 && [...this.#telling].some((telling) => path.startsWith(telling));
  }

  /** Ripgrep is told to leave out the usual spellings of secret names, and those only. */
  #addSuspect(directory: BytePath, name: string): void {
    if (this.#isApart(directory)) return;
    const path = directory + name;
    if (tellingNames.includes(name)) {
      this.#telling.add(path);
      this.#seen.set(path, '');
    } else if (secretFiles(directory, [name]).length > 0) this.#isPlain = false;
    this.#limit();
  }

  #limit(): void {
    if (this.#seen.size > maxEntries || this.#telling.size > maxTelling) this.#isPlain = false;
  }

  #addIgnoreFile(path: BytePath): boolean {
    const stat = lstatIfAllowed(path);
    const identity = stat === undefined ? '' : this.#identityOf(stat);
    this.#seen.set(path, identity);
    return identity !== '' && isPlainIgnoreFile(path);
  }

  #identityOf({ ino, ctimeMs }: Stats): Identity {
    return ctimeMs < Date.now() - this.#settledMs ? `${ino} ${ctimeMs}` : '';
  }

  /** Looks for what has changed since. Returns false when ripgrep cannot be left alone with it any more. */
  async catchUp(visible: VisiblePaths, treeWalk: TreeWalk): Promise<boolean> {
    const slice = new Slice(treeWalk.signal);
    for (const [path, identity] of this.#seen) {
      if (slice.tick()) await slice.pause();
      const found = this.#lookAt(path, identity);
      if (found === 'odd') return false;
      if (found === 'same') continue;
      const added = await this.#newIn(path, found, { visible, slice });
      for (const directory of added ?? []) if (!(await this.learn(treeWalk, directory))) return false;
      if (added === undefined) return false;
      this.#seen.set(path, this.#identityOf(found));
    }
    return this.#isPlain;
  }

  /** What has become of something that was seen; the new state of a directory that has changed. */
  #lookAt(path: BytePath, identity: Identity): 'same' | 'odd' | Stats {
    const isDirectory = path.endsWith('/');
    const stat = lstatIfAllowed(isDirectory ? path.slice(0, -1) : path);
    if (stat === undefined) return this.#drop(path);
    if (stat.isDirectory() !== isDirectory) return 'odd';
    if (this.#telling.has(path) || (identity !== '' && this.#identityOf(stat) === identity)) return 'same';
    return isDirectory ? stat : 'odd';
  }

  /** Without an ignore file, others are shown, unless its directory has gone with it. */
  #drop(path: BytePath): 'same' | 'odd' {
    const above = path.slice(0, path.lastIndexOf('/', path.length - 2) + 1);
    const isRule = !path.endsWith('/') && !this.#telling.has(path);
    if (path === this.#top || (isRule && this.#seen.has(above))) return 'odd';
    this.#seen.delete(path);
    this.#telling.delete(path);
    return 'same';
  }

  /** New directories in one that has changed; `undefined` when something new has a say. Other files do not matter here. */
  async #newIn(
    directory: BytePath,
    { size }: Stats,
    { visible, slice }: { visible: VisiblePaths; slice: Slice },
  ): Promise<BytePath[] | undefined> {
    const added: BytePath[] = [];
    for (const { entries } of directoryParts(directory, size)) {
      for (const entry of entries) {
        const path = directory + entry.name;
        if (this.#hasSay(directory, entry)) return undefined;
        if (this.#isNew(path, entry) && visible.has(path, { isDirectory: entry.isDirectory() })) {
          if (entry.isDirectory()) added.push(path);
          else this.#addSuspect(directory, entry.name);
        }
        if (slice.tick()) await slice.pause();
      }
    }
    return added;
  }

  #hasSay(directory: BytePath, { name }: Dirent): boolean {
    if (name === '.gitignore') return !this.#seen.has(directory + name);
    return oddNames.includes(name) && directory !== this.#top;
  }

  #isNew(path: BytePath, entry: Dirent): boolean {
    if (entry.isDirectory()) return !this.#seen.has(`${path}/`);
    return entry.isFile() && isSuspect(entry.name) && !this.#telling.has(path);
  }
}

/** Empty for what may change without a sign of it. */
type Identity = string;

function lstatIfAllowed(path: BytePath): Stats | undefined {
  try {
    return lstatSync(systemPath(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Whether a `.gitignore` surely means the same to git and to ripgrep. */
function isPlainIgnoreFile(path: BytePath): boolean {
  let isReadable = true;
  const onProblem = () => (isReadable = false);
  const text = readSmallFile(path, { onProblem, isLinkRefused: true, maxBytes: maxIgnoreFile }) ?? '';
  return isReadable && rulesProblem(text) === undefined && hasOnlyPlainRules(text, { ignoresCase: true });
}

/** Of many, that they are many is enough. */
function addEnding(endings: Set<string>, name: string): void {
  if (name.includes('.') && endings.size <= maxEndings) endings.add(endingOf(name));
}

function endingOf(name: string): string {
  return name.slice(name.lastIndexOf('.'));
}
