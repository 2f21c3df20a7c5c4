import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { setTimeout as setTimer } from 'node:timers';
import { type BytePath, fromBytePath, systemPath } from './byte-path.js';
import { compileFileGlob, type FileGlob } from './file-glob.js';
import { lineText } from './line-window.js';
import { secrecyOf } from './protected-paths.js';
import { type RgBatch, RgBatches } from './rg-batch.js';
import { outputFlags, type RgLine, RgOutput } from './rg-output.js';
import type { Ripgrep } from './ripgrep.js';
import { checkEnd, startError } from './ripgrep-error.js';
import type { Visibility } from './visibility.js';
import { type WalkedDirectory, walk } from './walk.js';
import { WalkNotes } from './walk-notes.js';

export interface TextSearch extends Visibility {
  /** In ripgrep's dialect. */
  pattern: string;
  /** `smart`: letters match in any case unless the pattern has a capital one. */
  letters: 'smart' | 'exact' | 'any';
  /** Lines shown before and after each match. */
  context: number;
  /** A real path, and what it leads to. */
  path: BytePath;
  kind: 'file' | 'directory';
  /** Which files to search, seen from `path`; a pattern without a slash holds at any depth. */
  glob?: string | undefined;
  /** Matching lines returned. */
  limit: number;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface FoundLine {
  number: number;
  text: string;
  isMatch: boolean;
}

export interface FoundText {
  files: { path: string; lines: FoundLine[] }[];
  /** Matching lines in all, or at least. */
  matches: number;
  /** Why the search ended before it had seen everything. */
  cut?: 'limit' | 'time';
  notes: WalkNotes;
}

/** Lines that match, searched by ripgrep in the files that the walk allows, while the walk goes on. */
export async function searchText(ripgrep: Ripgrep, options: TextSearch): Promise<FoundText> {
  const search = new Search(ripgrep, options);
  const cut = await search.run();
  const files = [...search.lines].map(async ([path, lines]) => ({
    path: fromBytePath(path),
    lines: await Promise.all(lines.map(shownLine)),
  }));
  const sorted = (await Promise.all(files)).sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files: sorted, matches: search.matches, notes: search.notes, ...(cut !== undefined && { cut }) };
}

async function shownLine(line: RgLine): Promise<FoundLine> {
  return { number: line.number, text: await lineText(line), isMatch: line.column > 0 };
}

/** After the limit the search goes on for a moment, because most searches then end and the total is known. */
const countingMs = 10;
/** Matches of one file beyond the limit that are still counted. */
const countedPerFile = 10_000;

// What every secret path has in it: asking about each of the others would cost more than the search.
const suspectDirectory = /\/[._]|^\/(?:etc|proc)\/|keychains/i;
const suspectName = /^[._]|^(?:login data|key4\.db|logins\.json)$/i;
const throughDescriptor = /^\/proc\/self\/fd\/3\/?/;

class Search {
  readonly lines = new Map<BytePath, RgLine[]>();
  readonly notes = new WalkNotes();
  matches = 0;
  readonly #ripgrep: Ripgrep;
  readonly #options: TextSearch;
  readonly #enough = new AbortController();
  readonly #time: AbortSignal;
  readonly #signal: AbortSignal;
  readonly #glob: FileGlob | undefined;
  readonly #isSecretItself: boolean;
  #last = { path: '', number: 0, matches: 0 };
  #isCounted = true;
  #hasRun = false;
  #counting: NodeJS.Timeout | undefined;

  constructor(ripgrep: Ripgrep, options: TextSearch) {
    this.#ripgrep = ripgrep;
    this.#options = options;
    this.#glob = options.glob === undefined ? undefined : compileFileGlob(options.glob);
    this.#isSecretItself = secrecyOf(fromBytePath(options.path)) !== undefined;
    this.#time = AbortSignal.timeout(options.timeoutMs);
    this.#signal = AbortSignal.any([options.signal, this.#time, this.#enough.signal]);
  }

  /** Returns why it ended early, if it did. */
  async run(): Promise<'limit' | 'time' | undefined> {
    const { kind, path, signal } = this.#options;
    try {
      if (kind === 'directory') await this.#searchTree();
      else await this.#searchPaths(batchOf(this.#isHidden(path) ? devNull : path));
      return this.#isCounted ? undefined : 'limit';
    } catch (error) {
      signal.throwIfAborted();
      if (this.#enough.signal.aborted) return 'limit';
      if (this.#time.aborted) return 'time';
      throw startError(error);
    } finally {
      clearTimeout(this.#counting);
    }
  }

  /** Ripgrep searches what the walk has found so far, while the walk goes on. */
  async #searchTree(): Promise<void> {
    const batches = new RgBatches({ globIsPassed: this.#glob?.flags !== undefined });
    const ended = new AbortController();
    const walking = this.#collect(batches, AbortSignal.any([this.#signal, ended.signal]));
    // The failure is met below; until then nobody waits for it.
    walking.catch(() => {});
    try {
      do {
        await batches.ready();
        if (batches.size > 0) await this.#searchPaths(batches.take());
      } while (batches.isOpen || batches.size > 0);
      await walking;
    } finally {
      ended.abort();
    }
    // A pattern is judged even when there was nothing to search.
    if (!this.#hasRun) await this.#searchPaths(batchOf(devNull));
  }

  /** A named file is searched even if git ignores it. */
  #isHidden(file: BytePath): boolean {
    const { rules, disregard, canRead } = this.#options;
    const path = fromBytePath(file);
    if (canRead?.(path) === false) return true;
    if (disregard?.has('agent') === true || rules.ignoredBy(path, { isDirectory: false }) !== 'agent') return false;
    this.notes.add('hidden by .qwenignore or .latheignore', file);
    return true;
  }

  async #collect(batches: RgBatches, signal: AbortSignal): Promise<void> {
    const { path: directory, rules, disregard = new Set() } = this.#options;
    const glob = this.#glob && { glob: this.#glob.start };
    const visible = { rules, disregard, canRead: this.#options.canRead };
    try {
      for await (const part of walk({ directory, ...visible, ...glob, signal, notes: this.notes }))
        batches.add(this.#withoutSecrets(part));
    } finally {
      batches.close();
    }
  }

  /** Files that hold keys and the like are searched only when they, or a directory of theirs, are named. */
  #withoutSecrets(part: WalkedDirectory): WalkedDirectory {
    if (this.#isSecretItself) return part;
    const isSuspect = suspectDirectory.test(part.path);
    const secrets = part.files.filter(
      (name) => (isSuspect || suspectName.test(name)) && secrecyOf(fromBytePath(part.path + name)) !== undefined,
    );
    if (secrets.length === 0) return part;
    for (const name of secrets) this.notes.add('not searched, because they hold secrets', part.path + name);
    const files = part.files.filter((name) => !secrets.includes(name));
    return { ...part, files, hidden: part.hidden + secrets.length };
  }

  async #searchPaths({ paths, only, descriptor }: RgBatch): Promise<void> {
    const { pattern, letters, context, limit } = this.#options;
    this.#hasRun = true;
    const flags = [
      '--no-ignore',
      '--hidden',
      '--max-depth=1',
      ...outputFlags,
      ...(context > 0 ? [`--context=${context}`] : []),
      { smart: '--smart-case', exact: '--case-sensitive', any: '--ignore-case' }[letters],
      `--max-count=${limit + countedPerFile}`,
      ...(this.#glob?.flags ?? []),
    ];
    const nameOf = (path: BytePath) => (descriptor === undefined ? path : path.replace(throughDescriptor, descriptor));
    const output = new RgOutput(
      (line) => this.#add({ ...line, path: nameOf(line.path) }, only),
      (path) => this.notes.add('binary files that match', nameOf(path)),
    );
    const opened = descriptor === undefined ? undefined : openSync(systemPath(descriptor), 'r');
    try {
      const run = { signal: this.#signal, onOutput: (chunk: Buffer) => output.push(chunk), directory: opened };
      checkEnd(await this.#ripgrep.run([...flags, '-e', pattern, '--', ...paths], run), this.notes);
      output.end();
    } finally {
      if (opened !== undefined) closeSync(opened);
    }
  }

  #add(line: RgLine, only: ReadonlyMap<BytePath, ReadonlySet<string>>): void {
    const { limit, context } = this.#options;
    const isMatch = line.column > 0;
    const slash = line.path.lastIndexOf('/') + 1;
    if (only.get(line.path.slice(0, slash))?.has(line.path.slice(slash)) === false) return;
    if (this.#last.path !== line.path) this.#last = { path: line.path, number: 0, matches: 0 };
    if (isMatch) {
      this.matches++;
      this.#last = { path: line.path, number: line.number, matches: this.#last.matches + 1 };
      if (this.#last.matches === limit + countedPerFile) this.#isCounted = false;
    }
    if (this.matches > limit) this.#counting ??= setTimer(() => this.#enough.abort(), countingMs);
    const isAfterLast = this.matches === limit && this.#last.matches > 0 && line.number - this.#last.number <= context;
    if (isMatch ? this.matches <= limit : this.matches < limit || isAfterLast) this.#keep(line);
  }

  #keep(line: RgLine): void {
    // The bytes are copied because they would keep alive the whole piece of output they came in.
    const kept = { ...line, text: Buffer.from(line.text) };
    const lines = this.lines.get(line.path);
    if (lines === undefined) this.lines.set(line.path, [kept]);
    else lines.push(kept);
  }
}

/** One file, whatever its name. */
function batchOf(path: BytePath): RgBatch {
  const batches = new RgBatches({ globIsPassed: false });
  batches.addFile(path);
  return batches.take();
}
