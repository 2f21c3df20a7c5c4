import { existsSync, lstatSync } from 'node:fs';
import { setTimeout as setTimer } from 'node:timers';
import { type BytePath, systemPath } from './byte-path.js';
import type { GitRules, IgnoreLevel } from './ignore-rules.js';
import { caseFlags, hasTrap, noExcludes, nothingAbove, type PlainTree, plainTree, walkFlags } from './plain-tree.js';
import { otherProblems } from './ripgrep-error.js';
import { type SearchJob, searchFlags } from './search-job.js';
import { withoutSecretsFlag } from './secret-files.js';
import { SkippedEntries } from './skipped-entries.js';
import { VisiblePaths, visibleComplaints, visibleOutput } from './visible-paths.js';
import { walk } from './walk.js';
import { unusedIgnoreFiles, WalkNotes } from './walk-notes.js';
import { type LeftOut, searchLeft } from './walked-search.js';

/**
 * Searches a tree at ripgrep's own speed: ripgrep walks it by its idea of git's rules, and says what it leaves out.
 * Our rules have the last word on both sides. A match counts if they show its file; what was left out and they show is
 * searched afterwards. Returns false when the answer cannot be relied on, and then `job.found` is of no use.
 */
export async function searchTree(job: SearchJob): Promise<boolean> {
  const tree = plainTree(job);
  // Ripgrep would take what hides the tree for rules about what is in it.
  if (tree?.level.ignoredBy !== undefined && ['inside', 'above'].includes(tree.level.gitRules)) return false;
  return tree !== undefined && new TreeSearch(job, tree).run();
}

/** After this long without a word in the log, somebody looks whether ripgrep waits for a pipe that is called `.gitignore`. */
const patienceMs = 2000;
/** More than this left out against our rules is a tree that we walk faster ourselves. */
const maxLeft = 1000;

/** There may be repositories inside, of which ripgrep has to see that they are such. */
const ruleFlags: Record<GitRules, readonly string[]> = {
  none: [],
  inside: [],
  repository: [nothingAbove, noExcludes],
  excludes: [nothingAbove],
  above: [],
};

class TreeSearch {
  readonly #job: SearchJob;
  readonly #argument: string;
  readonly #directory: BytePath;
  readonly #level: IgnoreLevel;
  readonly #visible: VisiblePaths;
  readonly #left: LeftOut[] = [];
  readonly #log: SkippedEntries;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #patience = setTimer(() => void this.#lookForTraps().catch(() => {}), patienceMs);
  #gitIsUnreported: boolean;
  /** A repository inside has another idea of case, and ripgrep one for all. */
  #isMixed = false;

  constructor(job: SearchJob, { argument, level }: PlainTree) {
    this.#job = job;
    this.#argument = argument;
    this.#directory = job.options.path;
    this.#visible = new VisiblePaths(this.#directory, () => level);
    this.#level = level;
    // Elsewhere ripgrep obeys `.gitignore` files that git knows nothing of, such as those of Jujutsu.
    const options = { knowsPlainRules: level.gitRules !== 'none', ignoresCase: level.ignoresCase };
    this.#log = new SkippedEntries((path) => this.#checkSkipped(path), options);
    this.#signal = AbortSignal.any([job.signal, this.#stop.signal]);
    this.#gitIsUnreported = existsSync(systemPath(`${this.#directory}/.git`));
  }

  async run(): Promise<boolean> {
    try {
      await this.#search();
    } catch {
      this.#job.signal.throwIfAborted();
      return false;
    } finally {
      clearTimeout(this.#patience);
    }
    // The log names `.git` if it names anything.
    const isOdd = this.#log.isOdd || this.#gitIsUnreported || this.#isMixed;
    if (isOdd || [otherProblems, unusedIgnoreFiles].some((kind) => this.#job.found.notes.has(kind))) return false;
    await searchLeft(this.#job, this.#left);
    return true;
  }

  async #search(): Promise<void> {
    const { ripgrep, options, found } = this.#job;
    const output = visibleOutput(this.#visible, found);
    const rules = [...ruleFlags[this.#level.gitRules], ...caseFlags(this.#level)];
    const flags = [...searchFlags(this.#job), ...walkFlags, ...rules, withoutSecretsFlag];
    const args = ['--debug', ...flags, '-e', options.pattern, '--', this.#argument];
    const code = await ripgrep.run(args, {
      signal: this.#signal,
      onOutput: (chunk) => output.push(chunk),
      onLog: (chunk) => this.#readLog(chunk),
      isProven: () => this.#log.hasBegun,
    });
    output.end();
    const complaints = visibleComplaints(this.#visible, found);
    complaints.push(Buffer.from(this.#log.errors, 'latin1'));
    complaints.checkEnd(code, output);
  }

  #readLog(chunk: Buffer): void {
    this.#patience.refresh();
    this.#log.push(chunk);
    if (this.#log.isOdd || this.#isMixed || this.#left.length > maxLeft) this.#stop.abort();
  }

  #checkSkipped(path: BytePath): void {
    if (path === `${this.#directory}/.git`) this.#gitIsUnreported = false;
    if (path.endsWith('/.git') && this.#level.gitRules !== 'none')
      this.#isMixed ||= this.#visible.levelOf(path)?.ignoresCase === !this.#level.ignoresCase;
    const isVisibleAs = (isDirectory: boolean) => this.#visible.has(path, { isDirectory });
    if (!isVisibleAs(false) && !isVisibleAs(true)) return;
    const stat = lstatSync(systemPath(path), { throwIfNoEntry: false });
    const isDirectory = stat?.isDirectory() === true;
    if ((isDirectory || stat?.isFile() === true) && isVisibleAs(isDirectory)) this.#left.push({ path, isDirectory });
  }

  /** Opening a pipe waits for a writer; our own walk does not open what is no file. */
  async #lookForTraps(): Promise<void> {
    const notes = new WalkNotes();
    const { rules } = this.#job.options;
    // Ripgrep enters also what only our rules hide.
    const disregard = new Set(['git', 'agent'] as const);
    const visited = walk({ directory: this.#directory, rules, disregard, signal: this.#signal, notes });
    for await (const { path } of visited) if (hasTrap(path) || notes.has(unusedIgnoreFiles)) this.#stop.abort();
  }
}
