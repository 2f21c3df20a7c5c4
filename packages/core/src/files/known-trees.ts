import { lstatSync, type Stats } from 'node:fs';
import { type BytePath, systemPath } from './byte-path.js';
import { directoryParts } from './directory-parts.js';
import { maxIgnoreFile } from './ignore-rules.js';
import { hasOnlyPlainRules, rulesProblem } from './plain-rules.js';
import { isSuspect, tellingNames } from './secret-files.js';
import { Slice } from './slice.js';
import { readSmallFile } from './small-file.js';
import type { VisiblePaths } from './visible-paths.js';

const maxTrees = 4;
/** Directories and ignore files of a tree. Smaller ones are walked as fast as they are looked through. */
const fewestEntries = 100;
const maxEntries = 10_000;
const maxTelling = 20;
/** Clocks of file systems tick now and then: what changed this short before it was looked at may do so again unnoticed. */
const defaultSettledMs = 2000;

/** Where one of these is, others than the `.gitignore` files have a say. */
const oddNames = ['.git', '.jj', '.qwenignore', '.latheignore'];

/** The repositories walked last, if they were such that ripgrep can be left alone with them. */
export class KnownTrees {
  readonly #trees = new Map<BytePath, KnownTree>();
  readonly #fewest: number;
  readonly #settledMs: number;

  constructor({ fewest = fewestEntries, settledMs = defaultSettledMs } = {}) {
    this.#fewest = fewest;
    this.#settledMs = settledMs;
  }

  /** A tree that is going to be walked. */
  begin(directory: BytePath, { ignoresCase }: { ignoresCase: boolean }): KnownTree {
    return new KnownTree(directory, { ignoresCase, settledMs: this.#settledMs });
  }

  get(directory: BytePath): KnownTree | undefined {
    return this.#trees.get(directory);
  }

  set(directory: BytePath, tree: KnownTree): void {
    this.#trees.delete(directory);
    if (tree.isPlain && tree.size >= this.#fewest) this.#trees.set(directory, tree);
    const [oldest] = this.#trees.keys();
    if (this.#trees.size > maxTrees && oldest !== undefined) this.#trees.delete(oldest);
  }
}

/**
 * The directories of a repository and its `.gitignore` files, which mean the same to git and to ripgrep. Asking for their
 * times is far less work than walking all of it again, and tells whether that still holds.
 */
export class KnownTree {
  /** Whether ripgrep shows all that git shows. */
  isPlain = true;
  /** Whether the rules were taken for letters in any case. */
  readonly ignoresCase: boolean;
  readonly #top: BytePath;
  readonly #settledMs: number;
  /** By path, which ends in a slash for a directory. */
  readonly #seen = new Map<BytePath, Identity>();
  /** Directories of which what is in them does not matter here. */
  readonly #telling = new Set<BytePath>();

  constructor(directory: BytePath, { ignoresCase, settledMs }: { ignoresCase: boolean; settledMs: number }) {
    this.#top = `${directory}/`;
    this.ignoresCase = ignoresCase;
    this.#settledMs = settledMs;
  }

  get size(): number {
    return this.#seen.size;
  }

  /** The outermost visible directories with telling names, which ripgrep is told to leave out. */
  get telling(): BytePath[] {
    return [...this.#telling].map((path) => path.slice(0, -1));
  }

  /** A witness of the walk through all of the tree. */
  add(path: BytePath, stat: Stats, has: (name: string) => boolean): void {
    if (!this.isPlain || [...this.#telling].some((telling) => path.startsWith(telling))) return;
    this.#seen.set(path, this.#identityOf(stat));
    const name = path.slice(path.lastIndexOf('/', path.length - 2) + 1, -1);
    if (path !== this.#top && tellingNames.includes(name)) this.#telling.add(path);
    else if (path !== this.#top && (isSuspect(`${name}/`) || oddNames.some(has))) this.isPlain = false;
    else if (has('.gitignore')) this.isPlain = this.#addIgnoreFile(`${path}.gitignore`);
    if (this.#seen.size > maxEntries || this.#telling.size > maxTelling) this.isPlain = false;
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

  /** Whether all directories and ignore files are still the ones that were seen. */
  async isUnchanged(visible: VisiblePaths, signal: AbortSignal): Promise<boolean> {
    const slice = new Slice(signal);
    for (const [path, identity] of this.#seen) {
      const isDirectory = path.endsWith('/');
      const stat = lstatIfAllowed(isDirectory ? path.slice(0, -1) : path);
      if (stat?.isDirectory() !== isDirectory) return false;
      if ((identity === '' || this.#identityOf(stat) !== identity) && !this.#telling.has(path)) {
        if (!isDirectory || !(await this.#hasNothingNew(path, stat, { visible, slice }))) return false;
        this.#seen.set(path, this.#identityOf(stat));
      }
      if (slice.tick()) await slice.pause();
    }
    return true;
  }

  /** A directory also changes when files come and go, which does not matter here. */
  async #hasNothingNew(
    directory: BytePath,
    { size }: Stats,
    { visible, slice }: { visible: VisiblePaths; slice: Slice },
  ): Promise<boolean> {
    for (const { entries } of directoryParts(directory, size)) {
      for (const entry of entries) if (this.#isNew(directory, entry, visible)) return false;
      if (slice.isOver) await slice.pause();
    }
    return true;
  }

  #isNew(directory: BytePath, entry: { name: string; isDirectory(): boolean }, visible: VisiblePaths): boolean {
    const path = directory + entry.name;
    if (entry.name === '.gitignore') return !this.#seen.has(path);
    if (oddNames.includes(entry.name)) return directory !== this.#top;
    return entry.isDirectory() && !this.#seen.has(`${path}/`) && visible.has(path, { isDirectory: true });
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
