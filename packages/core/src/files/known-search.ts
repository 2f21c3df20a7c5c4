import { setTimeout } from 'node:timers/promises';
import type { FileGlob } from './file-glob.js';
import type { IgnoreLevel } from './ignore-rules.js';
import type { KnownTree } from './known-tree.js';
import { caseFlags, noExcludes, nothingAbove, plainTree, walkFlags } from './plain-tree.js';
import { backupEnding } from './protected-paths.js';
import { argumentFor } from './rg-batch.js';
import { otherProblems } from './ripgrep-error.js';
import { type SearchJob, searchFlags } from './search-job.js';
import { tellingNames } from './secret-files.js';
import { isThere } from './small-file.js';
import { VisiblePaths, visibleComplaints, visibleOutput } from './visible-paths.js';
import { isWholeWalk } from './walk-notes.js';
import { searchLeft } from './walked-search.js';

/**
 * Searches a tree in which ripgrep and our rules surely see the same files: ripgrep walks it by itself, while we
 * look whether that is so. The first time that takes a walk, later only the times of directories and ignore files.
 * Returns false when the answer cannot be relied on, and then `job.found` is of no use.
 */
export async function searchKnownTree(job: SearchJob): Promise<boolean> {
  const { known: trees, path } = job.options;
  if (trees === undefined || !isOfUse(job.glob) || argumentFor(path) === undefined) return false;
  const level = once(() => fitRules(job));
  const remembered = trees.get(path);
  const tree = remembered ?? trees.begin(path, level, { canWait: job.glob === undefined });
  if (tree === undefined) return false;
  const search = new KnownSearch(job, { tree, level, isRemembered: remembered !== undefined });
  const { outcome, tree: now } = await search.run();
  if (outcome === 'odd') trees.forget(path);
  if (now === undefined) return false;
  trees.keep(path, now);
  if (outcome !== 'done') return false;
  // No telling name has one of the extensions.
  const left = now.telling.filter(({ isDirectory }) => isDirectory || job.glob === undefined);
  await searchLeft(job, left);
  return true;
}

/** Each secret that is left out is noted, which a search for other names than those cannot do. */
function isOfUse(glob: FileGlob | undefined): boolean {
  if (glob === undefined) return true;
  return glob.isByExtension && !glob.names?.some((name) => mayEndSecret(name.slice(1).toLowerCase()));
}

function mayEndSecret(ending: string): boolean {
  return backupEnding.test(ending) || tellingNames.some((name) => name.endsWith(ending));
}

/** The rules of a tree in which nothing has a say but the `.gitignore` files in it. */
function fitRules(job: SearchJob): IgnoreLevel | undefined {
  const level = plainTree(job)?.level;
  return level !== undefined && ['none', 'inside', 'repository'].includes(level.gitRules) ? level : undefined;
}

interface Surroundings {
  tree: KnownTree;
  level: () => IgnoreLevel | undefined;
  isRemembered: boolean;
}

interface Outcome {
  /** `odd`: ripgrep cannot be left alone with the tree; `missed`: only in this search; `failed`: it did not get to the end. */
  outcome: 'done' | 'odd' | 'missed' | 'failed';
  /** The tree as it is now, if ripgrep can be left alone with it. */
  tree?: KnownTree;
}

class KnownSearch {
  readonly #job: SearchJob;
  readonly #signal: AbortSignal;
  readonly #tree: KnownTree;
  readonly #level: () => IgnoreLevel | undefined;
  readonly #isRemembered: boolean;
  readonly #visible: VisiblePaths;
  readonly #names: readonly string[];
  readonly #isByName: boolean;
  readonly #stop = new AbortController();
  /** The tree as it is now. */
  #now: KnownTree | undefined;

  constructor(job: SearchJob, { tree, level, isRemembered }: Surroundings) {
    this.#job = job;
    this.#signal = AbortSignal.any([job.signal, this.#stop.signal]);
    this.#tree = tree;
    this.#level = level;
    this.#isRemembered = isRemembered;
    this.#visible = new VisiblePaths(job.options.path, level, (path) => this.#now?.has(path) ?? isThere(path));
    this.#names = job.glob?.names ?? [];
    const isFiltered = this.#names.length > 0;
    this.#isByName = isFiltered && !tree.hidesSome(this.#names) && !tree.entersSome(this.#names);
  }

  async run(): Promise<Outcome> {
    // Ripgrep first: it takes longer to start than anything else does here.
    const searching = this.#search();
    const checking = this.#check(searching);
    try {
      await Promise.all([searching, checking]);
    } catch {
      const isOdd = this.#stop.signal.aborted;
      this.#stop.abort();
      await Promise.allSettled([searching, checking]);
      this.#job.signal.throwIfAborted();
      return { outcome: isOdd ? 'odd' : 'failed' };
    }
    const { notes } = this.#job.found;
    const tree = this.#now;
    if (tree === undefined || notes.has(otherProblems) || !isWholeWalk(notes)) return { outcome: 'odd' };
    // Ripgrep was told to leave out directories with the extension.
    return { outcome: this.#isByName && tree.entersSome(this.#names) ? 'missed' : 'done', tree };
  }

  async #check(searching: Promise<void>): Promise<void> {
    this.#now = this.#tree.isStill(this.#level()) ? await this.#treeNow(searching) : undefined;
    if (this.#now === undefined) this.#stop.abort();
  }

  async #treeNow(searching: Promise<void>): Promise<KnownTree | undefined> {
    const treeWalk = { rules: this.#job.options.rules, signal: this.#signal };
    if (this.#isRemembered) return this.#tree.catchUp({ ...treeWalk, visible: this.#visible, names: this.#names });
    if (this.#job.glob === undefined)
      await Promise.race([searching, setTimeout(learnAfterMs, undefined, { ref: false })]);
    return (await this.#tree.learn(treeWalk)) ? this.#tree : undefined;
  }

  async #search(): Promise<void> {
    const { ripgrep, options, found } = this.#job;
    const output = visibleOutput(this.#visible, found);
    const complaints = visibleComplaints(this.#visible, found);
    const rules = [...knownFlags(this.#tree), ...caseFlags(this.#tree)];
    const flags = [...searchFlags(this.#job), ...this.#filters(), ...walkFlags, ...rules, ...withoutTelling];
    const args = [...flags, '-e', options.pattern, '--', argumentFor(options.path) ?? ''];
    const code = await ripgrep.run(args, {
      signal: this.#signal,
      onOutput: (chunk) => output.push(chunk),
      onError: (chunk) => complaints.push(chunk),
    });
    output.end();
    complaints.checkEnd(code, output);
  }

  /**
   * A glob makes ripgrep look at names before it looks at rules, and takes back what a rule hides; a type does neither.
   * What is taken back is judged again, and must not be a directory: those could be any size.
   */
  #filters(): string[] {
    if (this.#names.length === 0) return [];
    if (this.#isByName) return this.#names.flatMap((name) => [`--glob=${name}`, `--glob=!${name}/`]);
    return [...this.#names.map((name) => `--type-add=wanted:${name}`), '--type=wanted'];
  }
}

/** Many searches have found enough before this, and those without a glob can be made again in another way. */
const learnAfterMs = 100;

/** There is no repository inside, nor does anything outside have a say. */
function knownFlags({ gitRules }: KnownTree): string[] {
  return gitRules === 'none' ? ['--no-ignore'] : [nothingAbove, noExcludes, '--no-require-git'];
}

const withoutTelling = tellingNames.map((name) => `--glob=!${name}`);

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
