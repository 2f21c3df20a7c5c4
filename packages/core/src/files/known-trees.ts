import { lstatSync, type Stats } from 'node:fs';
import type { GlobState } from '../text/glob.js';
import { type BytePath, fromBytePath, systemPath } from './byte-path.js';
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

/** Where one of these is, others than the `.gitignore` files have a say. */
const oddNames = ['.git', '.jj', '.qwenignore', '.latheignore'];

/** The trees walked last, if they were such that ripgrep can be left alone with them. */
export class KnownTrees {
  readonly #trees = new Map<BytePath, KnownTree>();
  readonly #settledMs: number;

  constructor({ settledMs = defaultSettledMs } = {}) {
    this.#settledMs = settledMs;
  }

  /** A tree that is going to be walked. */
  begin(directory: BytePath, surroundings: string): KnownTree {
    return new KnownTree(directory, surroundings, this.#settledMs);
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
  /** What has a say in the tree and is not in it. */
  readonly surroundings: string;
  readonly #top: BytePath;
  readonly #settledMs: number;
  /** By path, which ends in a slash for a directory. */
  readonly #seen = new Map<BytePath, Identity>();
  /** Those with telling names; what is in them does not matter here. */
  readonly #left = new Set<BytePath>();

  constructor(directory: BytePath, surroundings: string, settledMs: number) {
    this.#top = `${directory}/`;
    this.surroundings = surroundings;
    this.#settledMs = settledMs;
  }

  /**
   * The outermost visible directories that ripgrep is told to leave out: those with telling names, and those that match;
   * `undefined` when there are many.
   */
  leftOutBy(glob: GlobState): BytePath[] | undefined {
    const left: BytePath[] = [];
    for (const path of this.#seen.keys()) {
      if (left.length > maxLeft) return undefined;
      if (path === this.#top || !path.endsWith('/') || left.some((above) => path.startsWith(`${above}/`))) continue;
      if (this.#left.has(path) || glob.matches(fromBytePath(nameOf(path)))) left.push(path.slice(0, -1));
    }
    return left;
  }

  /** A witness of the walk through all of the tree. */
  add(path: BytePath, stat: Stats, has: (name: string) => boolean): void {
    if (!this.isPlain || [...this.#left].some((left) => path.startsWith(left))) return;
    this.#seen.set(path, this.#identityOf(stat));
    const name = nameOf(path);
    if (path !== this.#top && tellingNames.includes(name)) this.#left.add(path);
    else if (path !== this.#top && (isSuspect(`${name}/`) || oddNames.some(has))) this.isPlain = false;
    else if (has('.gitignore')) this.isPlain = this.#addIgnoreFile(`${path}.gitignore`);
    if (this.#seen.size > maxEntries || this.#left.size > maxLeft) this.isPlain = false;
  }

  #addIgnoreFile(path: BytePath): boolean {
    const stat = lstatIfAllowed(path);
    const identity = stat === undefined ? '' : this.#identityOf(stat);
    this.#seen.set(path, identity);
    return identity !== '' && plainRules(path) !== undefined;
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
    if (entry.name === '.gitignore') return !this.#seen.has(path);
    if (oddNames.includes(entry.name)) return directory !== this.#top;
    return entry.isDirectory() && !this.#seen.has(`${path}/`) && visible.has(path, { isDirectory: true });
  }
}

/** Empty for what may change without a sign of it. */
type Identity = string;

/** Of a directory. */
function nameOf(path: BytePath): string {
  return path.slice(path.lastIndexOf('/', path.length - 2) + 1, -1);
}

function lstatIfAllowed(path: BytePath): Stats | undefined {
  try {
    return lstatSync(systemPath(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The text of a `.gitignore`, empty if there is none, that surely means the same to git and to ripgrep. */
export function plainRules(path: BytePath): string | undefined {
  let isReadable = true;
  const onProblem = () => (isReadable = false);
  const text = readSmallFile(path, { onProblem, isLinkRefused: true, maxBytes: maxIgnoreFile }) ?? '';
  const isPlain = isReadable && rulesProblem(text) === undefined && hasOnlyPlainRules(text, { ignoresCase: true });
  return isPlain ? text : undefined;
}
