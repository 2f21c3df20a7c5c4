import { type Dirent, lstatSync, type Stats } from 'node:fs';
import { type BytePath, systemPath } from './byte-path.js';
import { directoryParts } from './directory-parts.js';
import { type GitRules, type IgnoreLevel, maxIgnoreFile } from './ignore-rules.js';
import { keptShapes } from './kept-shapes.js';
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
/** All ignore files of a tree together: ripgrep makes some hundred times as much of them. */
const maxRuleBytes = 256 << 10;

/** Where one of these is, others than the `.gitignore` files have a say. */
const oddNames = ['.git', '.jj', '.qwenignore', '.latheignore'];

/** Something with a telling name that ripgrep is told to leave out and our rules show. */
export interface Telling {
  path: BytePath;
  isDirectory: boolean;
}

/** How to walk a tree, or a part of it. */
export type TreeWalk = Pick<WalkOptions, 'rules' | 'signal'>;

interface KnownTreeOptions extends Pick<IgnoreLevel, 'ignoresCase' | 'gitRules'> {
  settledMs: number;
}

/** How to look what has changed. */
export interface CatchUp extends TreeWalk {
  visible: VisiblePaths;
  /** Patterns for the extensions that matter. */
  names: readonly string[];
}

/**
 * The directories of a tree and its `.gitignore` files, which mean the same to git and to ripgrep. Asking for their times
 * is far less work than walking all of it again, and tells whether that still holds. Once learned, a tree does not
 * change: there may be several searches at a time, and each may be ended anywhere.
 */
export class KnownTree implements WalkWitness {
  /** Whether the rules were taken for letters in any case. */
  readonly ignoresCase: boolean;
  /** Where they came from. */
  readonly gitRules: GitRules;
  readonly #top: BytePath;
  readonly #settledMs: number;
  /** By path, which ends in a slash for a directory. */
  readonly #seen = new Map<BytePath, Identity | undefined>();
  /** The outermost ones; what is in them does not matter here. */
  readonly #telling = new Set<BytePath>();
  /** What the names of files that a rule hides end in, and those of directories. */
  readonly #hidden = new Set<string>();
  readonly #entered = new Set<string>();
  #ruleBytes = 0;
  #isPlain = true;

  constructor(directory: BytePath, { ignoresCase, gitRules, settledMs }: KnownTreeOptions) {
    this.#top = `${directory}/`;
    this.ignoresCase = ignoresCase;
    this.gitRules = gitRules;
    this.#settledMs = settledMs;
  }

  /** Whether the rules around it are what they were. */
  isStill(level: IgnoreLevel | undefined): boolean {
    return level?.ignoresCase === this.ignoresCase && level.gitRules === this.gitRules;
  }

  get telling(): Telling[] {
    return [...this.#telling].map((path) =>
      path.endsWith('/') ? { path: path.slice(0, -1), isDirectory: true } : { path, isDirectory: false },
    );
  }

  /** Whether one of these patterns for extensions may match a file that a rule hides. */
  hidesSome(names: readonly string[]): boolean {
    return this.#hidden.size > maxEndings || endingsOf(names).some((ending) => this.#hidden.has(ending));
  }

  /** The same for directories that are shown. */
  entersSome(names: readonly string[]): boolean {
    return this.#entered.size > maxEndings || endingsOf(names).some((ending) => this.#entered.has(ending));
  }

  /** Whether there is an ignore file or the like, for a path in a tree that has not changed. */
  has(path: BytePath): boolean {
    return this.#seen.has(path.slice(0, path.lastIndexOf('/') + 1)) ? this.#seen.has(path) : isThere(path);
  }

  /** Walks all of the tree, or a directory of it. Returns false when ripgrep cannot be left alone with it. */
  async learn(treeWalk: TreeWalk, directory = this.#top.slice(0, -1)): Promise<boolean> {
    const notes = new WalkNotes();
    const slice = new Slice(treeWalk.signal);
    for await (const { path, files } of walk({ ...treeWalk, directory, notes, witness: this })) {
      if (!this.#isPlain || !isWholeWalk(notes)) return false;
      for (const name of files) {
        if (isSuspect(name)) this.#addSuspect(path, name);
        // A name that is no text takes long.
        if (slice.tick()) await slice.pause();
      }
    }
    return this.#isPlain && isWholeWalk(notes);
  }

  enter(path: BytePath, stat: Stats, has: (name: string) => boolean): void {
    if (!this.#isPlain || this.#isApart(path)) return;
    this.#seen.set(path, this.#identityOf(stat));
    const name = path.slice(path.lastIndexOf('/', path.length - 2) + 1, -1);
    addEnding(this.#entered, name);
    if (path !== this.#top && tellingNames.includes(name)) this.#telling.add(path);
    else if (path !== this.#top && (isSuspect(`${name}/`) || oddNames.some(has))) this.#isPlain = false;
    else if (this.gitRules !== 'none' && has('.gitignore')) this.#addIgnoreFile(`${path}.gitignore`);
    this.#limit();
  }

  hide(name: string): void {
    addEnding(this.#hidden, name);
  }

  /** Whether a path lies in a directory with a telling name. */
  #isApart(path: BytePath): boolean {
    return [...this.#telling].some((telling) => telling.endsWith('/') && path.startsWith(telling));
  }

  /** Ripgrep is told to leave out the usual spellings of secret names, and those only. */
  #addSuspect(directory: BytePath, name: string): void {
    if (this.#isApart(directory)) return;
    const path = directory + name;
    if (tellingNames.includes(name)) {
      this.#telling.add(path);
      this.#seen.set(path, undefined);
    } else if (secretFiles(directory, [name]).length > 0) this.#isPlain = false;
    this.#limit();
  }

  #addIgnoreFile(path: BytePath): void {
    const stat = lookAt(path);
    const identity = stat === undefined || stat === 'unknown' ? undefined : this.#identityOf(stat);
    const rules = plainRules(path);
    this.#seen.set(path, identity);
    this.#ruleBytes += rules?.length ?? 0;
    if (identity === undefined || rules === undefined) this.#isPlain = false;
  }

  #limit(): void {
    const isLarge = this.#seen.size > maxEntries || this.#telling.size > maxTelling || this.#ruleBytes > maxRuleBytes;
    if (isLarge) this.#isPlain = false;
  }

  #identityOf({ ino, ctimeMs }: Stats): Identity | undefined {
    return ctimeMs < Date.now() - this.#settledMs ? { ino, ctimeMs } : undefined;
  }

  /** The tree as it is now; `undefined` when ripgrep cannot be left alone with it any more. */
  async catchUp(look: CatchUp): Promise<KnownTree | undefined> {
    const slice = new Slice(look.signal);
    let changed: KnownTree | undefined;
    const now = () => (changed ??= this.#copy());
    for (const [path, identity] of this.#seen) {
      if (slice.tick()) await slice.pause();
      const found = this.#compare(path, identity);
      if (found === 'same') continue;
      if (found === 'odd') return undefined;
      if (found === 'gone') now().#drop(path);
      else if (!(await now().#addNew(path, found, { ...look, slice }))) return undefined;
    }
    return changed ?? this;
  }

  #copy(): KnownTree {
    const options = { ignoresCase: this.ignoresCase, gitRules: this.gitRules, settledMs: this.#settledMs };
    const copy = new KnownTree(this.#top.slice(0, -1), options);
    for (const [path, identity] of this.#seen) copy.#seen.set(path, identity);
    for (const path of this.#telling) copy.#telling.add(path);
    for (const ending of this.#hidden) copy.#hidden.add(ending);
    for (const ending of this.#entered) copy.#entered.add(ending);
    copy.#ruleBytes = this.#ruleBytes;
    return copy;
  }

  /** What has become of something that was seen; the new state of a directory that has changed. */
  #compare(path: BytePath, identity: Identity | undefined): 'same' | 'gone' | 'odd' | Stats {
    const isDirectory = path.endsWith('/');
    const stat = lookAt(isDirectory ? path.slice(0, -1) : path);
    if (stat === 'unknown') return 'odd';
    if (stat === undefined) return this.#mayGo(path) ? 'gone' : 'odd';
    if (isDirectory ? !stat.isDirectory() : !stat.isFile()) return 'odd';
    if (this.#telling.has(path) || (identity?.ino === stat.ino && identity.ctimeMs === stat.ctimeMs)) return 'same';
    return isDirectory ? stat : 'odd';
  }

  /** Without an ignore file, others are shown, unless its directory has gone with it. */
  #mayGo(path: BytePath): boolean {
    if (path.endsWith('/') || this.#telling.has(path)) return path !== this.#top;
    return lookAt(path.slice(0, path.lastIndexOf('/'))) === undefined;
  }

  #drop(path: BytePath): void {
    this.#seen.delete(path);
    this.#telling.delete(path);
  }

  /** Takes in what is new in a directory that has changed. Returns false when something in it has a say. */
  async #addNew(directory: BytePath, stat: Stats, look: CatchUp & { slice: Slice }): Promise<boolean> {
    const { visible, slice, rules, signal } = look;
    const endings = endingsOf(look.names);
    const added: BytePath[] = [];
    for (const { entries } of directoryParts(directory, stat.size)) {
      for (const entry of entries) {
        if (slice.tick()) await slice.pause();
        if (this.#hasSay(directory, entry)) return false;
        if (!entry.isDirectory()) this.#addFile(directory, entry, { visible, endings });
        else if (this.#isNew(directory + entry.name, visible)) added.push(directory + entry.name);
      }
    }
    this.#seen.set(directory, this.#identityOf(stat));
    for (const path of added) if (!(await this.learn({ rules, signal }, path))) return false;
    return this.#isPlain;
  }

  #hasSay(directory: BytePath, { name }: Dirent): boolean {
    if (name === '.gitignore') return this.gitRules !== 'none' && !this.#seen.has(directory + name);
    return oddNames.includes(name) && directory !== this.#top;
  }

  #isNew(directory: BytePath, visible: VisiblePaths): boolean {
    return !this.#seen.has(`${directory}/`) && visible.has(directory, { isDirectory: true });
  }

  /** Most files do not matter here: only those that may be secrets, or hidden although ripgrep is told to look for them. */
  #addFile(
    directory: BytePath,
    entry: Dirent,
    { visible, endings }: { visible: VisiblePaths; endings: readonly string[] },
  ): void {
    const { name } = entry;
    const isWanted = endings.includes(endingOf(name)) && !this.#hidden.has(endingOf(name));
    if (!entry.isFile() || this.#telling.has(directory + name) || !(isWanted || isSuspect(name))) return;
    if (!visible.has(directory + name, { isDirectory: false })) this.hide(name);
    else if (isSuspect(name)) this.#addSuspect(directory, name);
  }
}

/** By which a directory or file is known as the one it was; `undefined` for what may change without a sign of it. */
interface Identity {
  ino: number;
  ctimeMs: number;
}

/** `undefined` when there is nothing, `unknown` when the system does not say. */
function lookAt(path: BytePath): Stats | 'unknown' | undefined {
  try {
    const stat = lstatSync(systemPath(path), { throwIfNoEntry: false });
    keptShapes.stat = stat;
    return stat;
  } catch {
    return 'unknown';
  }
}

/** The text of a `.gitignore` that surely means the same to git and to ripgrep. */
function plainRules(path: BytePath): string | undefined {
  const text = readSmallFile(path, { isLinkRefused: true, maxBytes: maxIgnoreFile });
  const isPlain = text !== undefined && rulesProblem(text) === undefined;
  return isPlain && hasOnlyPlainRules(text, { ignoresCase: true }) ? text : undefined;
}

/** Of many, that they are many is enough. */
function addEnding(endings: Set<string>, name: string): void {
  if (name.includes('.') && endings.size <= maxEndings) endings.add(endingOf(name));
}

/** Of patterns such as `*.ts` and, for what is spelled like a glob, `*.[{]ts[,]js[}]`. */
function endingsOf(names: readonly string[]): string[] {
  return names.map((name) => endingOf(name.replace(/\[(.)\]/g, '$1')));
}

function endingOf(name: string): string {
  return name.slice(name.lastIndexOf('.'));
}
