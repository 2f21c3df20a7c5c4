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
/** Directories and ignore files of a tree. */
const maxEntries = 10_000;
const maxLeft = 20;
/** Clocks of file systems tick now and then: what changed this short before it was looked at may do so again unnoticed. */
const defaultSettledMs = 2000;

const ignoreFiles = new Set(['.gitignore', '.qwenignore', '.latheignore']);

/** The trees walked last, if they were such that ripgrep can be left alone with them. */
export class KnownTrees {
  readonly #trees = new Map<BytePath, KnownTree>();
  readonly #settledMs: number;

  constructor({ settledMs = defaultSettledMs } = {}) {
    this.#settledMs = settledMs;
  }

  /** A tree that is going to be walked. */
  begin(directory: BytePath): KnownTree {
    return new KnownTree(directory, this.#settledMs);
  }

  get(directory: BytePath): KnownTree | undefined {
    return this.#trees.get(directory);
  }

  set(directory: BytePath, tree: KnownTree): void {
    this.#trees.delete(directory);
    if (tree.isPlain) this.#trees.set(directory, tree);
    const [oldest] = this.#trees.keys();
    if (this.#trees.size > maxTrees && oldest !== undefined) this.#trees.delete(oldest);
  }
}

/**
 * The directories of a tree and its `.gitignore` files, which mean the same to git and to ripgrep. Asking for their
 * times is a tenth of the work of walking the tree again, and tells whether that still holds.
 */
export class KnownTree {
  /** Whether ripgrep shows all that git shows. */
  isPlain = true;
  readonly #top: BytePath;
  readonly #settledMs: number;
  /** By path, which ends in a slash for a directory. */
  readonly #seen = new Map<BytePath, Identity>();
  readonly #left = new Set<BytePath>();

  constructor(directory: BytePath, settledMs: number) {
    this.#top = `${directory}/`;
    this.#settledMs = settledMs;
  }

  /** Visible directories that ripgrep is told to leave out because of their names; what is in them does not matter here. */
  get left(): BytePath[] {
    return [...this.#left].map((path) => path.slice(0, -1));
  }

  /** A witness of the walk through all of the tree. */
  add(path: BytePath, stat: Stats, has: (name: string) => boolean): void {
    if (!this.isPlain || [...this.#left].some((left) => path.startsWith(left))) return;
    this.#seen.set(path, this.#identityOf(stat));
    const name = path.slice(path.lastIndexOf('/', path.length - 2) + 1, -1);
    if (path !== this.#top && tellingNames.includes(name)) this.#left.add(path);
    // Repositories inside have rules of their own, which are read in more than one way.
    else if (path !== this.#top && (isSuspect(`${name}/`) || has('.git') || has('.jj'))) this.isPlain = false;
    else for (const file of ignoreFiles) if (has(file)) this.#addIgnoreFile(path + file);
    if (this.#seen.size > maxEntries || this.#left.size > maxLeft) this.isPlain = false;
  }

  #addIgnoreFile(path: BytePath): void {
    const identity = this.#identityOf(lstatSync(systemPath(path)));
    this.isPlain &&= identity !== '' && (!path.endsWith('/.gitignore') || isPlainIgnoreFile(path));
    this.#seen.set(path, identity);
  }

  #identityOf({ ino, ctimeMs }: Stats): Identity {
    return ctimeMs < Date.now() - this.#settledMs ? `${ino} ${ctimeMs}` : '';
  }

  /** Whether all directories and ignore files are still the ones that were seen. */
  async isUnchanged(visible: VisiblePaths, signal: AbortSignal): Promise<boolean> {
    const slice = new Slice(signal);
    for (const [path, identity] of this.#seen) {
      const isDirectory = path.endsWith('/');
      const stat = lstatSync(systemPath(isDirectory ? path.slice(0, -1) : path), { throwIfNoEntry: false });
      if (stat?.isDirectory() !== isDirectory) return false;
      if ((identity === '' || this.#identityOf(stat) !== identity) && !this.#left.has(path)) {
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
    if (ignoreFiles.has(entry.name)) return !this.#seen.has(path);
    if (entry.name === '.git' || entry.name === '.jj') return directory !== this.#top;
    return entry.isDirectory() && !this.#seen.has(`${path}/`) && visible.has(path, { isDirectory: true });
  }
}

/** Empty for what may change without a sign of it. */
type Identity = string;

/** Whether an ignore file, if there is one, surely means the same to git and to ripgrep. */
export function isPlainIgnoreFile(path: BytePath): boolean {
  let isReadable = true;
  const onProblem = () => (isReadable = false);
  const text = readSmallFile(path, { onProblem, isLinkRefused: true, maxBytes: maxIgnoreFile }) ?? '';
  return isReadable && rulesProblem(text) === undefined && hasOnlyPlainRules(text, { ignoresCase: true });
}
