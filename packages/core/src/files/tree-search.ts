import { existsSync, lstatSync, statSync } from 'node:fs';
import { setTimeout as setTimer } from 'node:timers';
import { type BytePath, systemPath } from './byte-path.js';
import type { IgnoreLevel } from './ignore-rules.js';
import { mountsBelow } from './mounts.js';
import { argumentFor } from './rg-batch.js';
import { binaryMatches, RgOutput } from './rg-output.js';
import { Complaints, otherProblems } from './ripgrep-error.js';
import { type SearchJob, searchFlags } from './search-job.js';
import { isSuspect, secretFiles, withoutSecretsFlag } from './secret-files.js';
import { SkippedEntries } from './skipped-entries.js';
import { VisiblePaths } from './visible-paths.js';
import { type WalkedDirectory, walk } from './walk.js';
import { unusedIgnoreFiles, WalkNotes } from './walk-notes.js';
import { searchWalked } from './walked-search.js';

/**
 * Searches a tree at ripgrep's own speed: ripgrep walks it by its idea of git's rules, and says what it leaves out.
 * Our rules have the last word on both sides. A match counts if they show its file; what was left out and they show is
 * searched afterwards. Returns false when the answer cannot be relied on, and then `job.found` is of no use.
 */
export async function searchTree(job: SearchJob): Promise<boolean> {
  const tree = plainTree(job);
  return tree !== undefined && new TreeSearch(job, tree).run();
}

interface PlainTree {
  /** Its path, as ripgrep is given it. */
  argument: string;
  level: IgnoreLevel;
}

/** The tree to search; `undefined` when there is anything special about it. */
function plainTree(job: SearchJob): PlainTree | undefined {
  const { path, rules } = job.options;
  const argument = argumentFor(path);
  if (argument === undefined || isSpecialSearch(job) || mountsBelow(path).size > 0 || hasTrapAbove(path))
    return undefined;
  const { notes } = job.found;
  const level = rules.in(path, (file, reason) => notes.add(unusedIgnoreFiles, file, reason));
  const isSpecial = level.ignoredBy !== undefined || level.hasAgentRules || notes.has(unusedIgnoreFiles);
  return isSpecial ? undefined : { argument, level };
}

function isSpecialSearch({ options, glob, isSecretPlace }: SearchJob): boolean {
  const { path, canRead, disregard = new Set() } = options;
  // With a glob, ripgrep would log every file that does not match.
  if (canRead !== undefined || disregard.size > 0 || glob !== undefined) return true;
  if (isSecretPlace || isSuspect(`${path}/`)) return true;
  return process.platform === 'win32' || path === '/' || path.includes('\n');
}

/** Ripgrep opens the `.gitignore` of every directory above, in a repository or not; one that is a pipe, it waits for. */
function hasTrapAbove(path: BytePath): boolean {
  try {
    for (let slash = path.lastIndexOf('/'); slash >= 0; slash = slash === 0 ? -1 : path.lastIndexOf('/', slash - 1)) {
      const file = statSync(systemPath(`${path.slice(0, slash)}/.gitignore`), { throwIfNoEntry: false });
      if (file?.isFile() === false) return true;
    }
    return false;
  } catch {
    return true;
  }
}

/** After this long without a word in the log, somebody looks whether ripgrep waits for a pipe that is called `.gitignore`. */
const patienceMs = 2000;
/** More than this left out against our rules is a tree that we walk faster ourselves. */
const maxLeft = 1000;

const walkFlags = [
  '--hidden',
  '--no-ignore-dot',
  '--no-ignore-global',
  '--no-ignore-messages',
  '--glob=!.git',
  withoutSecretsFlag,
];

class TreeSearch {
  readonly #job: SearchJob;
  readonly #argument: string;
  readonly #directory: BytePath;
  readonly #level: IgnoreLevel;
  readonly #visible: VisiblePaths;
  readonly #left: { path: BytePath; isDirectory: boolean }[] = [];
  readonly #log: SkippedEntries;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #patience = setTimer(() => void this.#lookForTraps().catch(() => {}), patienceMs);
  #gitIsUnreported: boolean;
  /** A repository inside has another idea of case, and ripgrep one for all. */
  #isMixed = false;
  #last = { path: '', isVisible: false };

  constructor(job: SearchJob, { argument, level }: PlainTree) {
    this.#job = job;
    this.#argument = argument;
    this.#directory = job.options.path;
    this.#visible = new VisiblePaths(this.#directory, level);
    this.#level = level;
    // Elsewhere ripgrep obeys `.gitignore` files that git knows nothing of, such as those of Jujutsu.
    const options = { knowsPlainRules: level.isInRepository, ignoresCase: level.ignoresCase };
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
    if (this.#left.length > 0) await searchWalked(this.#job, (signal) => this.#walkLeft(signal));
    return true;
  }

  async #search(): Promise<void> {
    const { ripgrep, options, found } = this.#job;
    const output = new RgOutput(
      (line) => this.#isVisible(line.path) && found.add(line),
      (path) => this.#isVisible(path) && found.notes.add(binaryMatches, path),
    );
    const flags = [...walkFlags, ...(this.#level.ignoresCase ? ['--ignore-file-case-insensitive'] : [])];
    const args = ['--debug', ...searchFlags(this.#job), ...flags, '-e', options.pattern, '--', this.#argument];
    const code = await ripgrep.run(args, {
      signal: this.#signal,
      onOutput: (chunk) => output.push(chunk),
      onLog: (chunk) => this.#readLog(chunk),
      isProven: () => this.#log.hasBegun,
    });
    output.end();
    const complaints = new Complaints(found.notes);
    complaints.push(Buffer.from(this.#log.errors, 'latin1'));
    complaints.checkEnd(code, output);
  }

  #readLog(chunk: Buffer): void {
    this.#patience.refresh();
    this.#log.push(chunk);
    if (this.#log.isOdd || this.#isMixed || this.#left.length > maxLeft) this.#stop.abort();
  }

  #isVisible(path: BytePath): boolean {
    if (path !== this.#last.path) {
      const slash = path.lastIndexOf('/') + 1;
      const isSecret = secretFiles(path.slice(0, slash), [path.slice(slash)]).length > 0;
      this.#last = { path, isVisible: !isSecret && this.#visible.has(path, { isDirectory: false }) };
    }
    return this.#last.isVisible;
  }

  #checkSkipped(path: BytePath): void {
    if (path === `${this.#directory}/.git`) this.#gitIsUnreported = false;
    if (path.endsWith('/.git') && this.#level.isInRepository)
      this.#isMixed ||= this.#visible.levelOf(path)?.ignoresCase === !this.#level.ignoresCase;
    const isVisibleAs = (isDirectory: boolean) => this.#visible.has(path, { isDirectory });
    if (!isVisibleAs(false) && !isVisibleAs(true)) return;
    const stat = lstatSync(systemPath(path), { throwIfNoEntry: false });
    const isDirectory = stat?.isDirectory() === true;
    if ((isDirectory || stat?.isFile() === true) && isVisibleAs(isDirectory)) this.#left.push({ path, isDirectory });
  }

  async *#walkLeft(signal: AbortSignal): AsyncGenerator<WalkedDirectory> {
    const { options, found } = this.#job;
    for (const { path, isDirectory } of this.#left) {
      if (isDirectory) yield* walk({ directory: path, rules: options.rules, signal, notes: found.notes });
      else {
        const slash = path.lastIndexOf('/') + 1;
        const [directory, name] = [path.slice(0, slash), path.slice(slash)];
        yield { path: directory, files: [name], links: [], hidden: 1, unmatched: 0, isComplete: true };
      }
    }
  }

  /** Opening a pipe waits for a writer; our own walk does not open what is no file. */
  async #lookForTraps(): Promise<void> {
    const notes = new WalkNotes();
    const visited = walk({ directory: this.#directory, rules: this.#job.options.rules, signal: this.#signal, notes });
    for await (const { path } of visited) if (path !== '' && notes.has(unusedIgnoreFiles)) this.#stop.abort();
  }
}
