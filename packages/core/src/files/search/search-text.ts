import { devNull } from 'node:os';
import { setTimeout as setTimer } from 'node:timers';
import { Yielder } from '../../async/yielder.js';
import { secrecyOf } from '../access/protected-paths.js';
import { isSecret, secretsIn, withoutSecrets } from '../access/secret-files.js';
import { isHiddenByAgent, type Visibility } from '../access/visibility.js';
import { asFolder, type BytePath, fromBytePath, toBytePath } from '../byte-path.js';
import { lineText } from '../read/line-window.js';
import { isThere } from '../small-file.js';
import type { OwnState } from '../workspace.js';
import { compileFileGlob } from './file-glob.js';
import { binaryMatches, outputFlags, type RgLine, RgOutput } from './rg-output.js';
import { printedPaths, type Ripgrep, RipgrepTooLarge } from './ripgrep.js';
import { Complaints, startError } from './ripgrep-error.js';
import { isInPlaceNow } from './search-place.js';
import { openTree } from './search-tree.js';
import { hiddenByAgent, WalkNotes } from './walk-notes.js';

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
  /** Our own state in `path`, when there is any. */
  ownState?: OwnState | undefined;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface FoundLine {
  number: number;
  isMatch: boolean;
  /** Reads the file when the match is far into a long line, so call it one by one and only for shown lines. */
  text: () => Promise<string>;
}

export interface FoundText {
  /** Sorted by path. */
  files: { path: string; lines: FoundLine[] }[];
  /** Matching lines in all, or at least. */
  matches: number;
  /** Why the search ended before it had seen everything. */
  cut?: 'limit' | 'time';
  notes: WalkNotes;
}

/** How long a search continues after the limit: most end in this time, and then the total is known. */
const countingMs = 5;

/** Lines that match, found by one run of ripgrep. */
export async function searchText(ripgrep: Ripgrep, options: TextSearch): Promise<FoundText> {
  const enough = new AbortController();
  const time = AbortSignal.timeout(options.timeoutMs);
  let counting: NodeJS.Timeout | undefined;
  const found = new FoundLines(options, () => (counting ??= setTimer(() => enough.abort(), countingMs)));
  const resultOf = async (cut: FoundText['cut']) => shownText(found, cut, options.signal);
  try {
    const signal = AbortSignal.any([options.signal, time, enough.signal]);
    await runSearch(ripgrep, options, signal, found);
    return await resultOf(found.isCounted ? undefined : 'limit');
  } catch (error) {
    options.signal.throwIfAborted();
    if (enough.signal.aborted) return await resultOf('limit');
    if (time.aborted || error instanceof RipgrepTooLarge) return await resultOf('time');
    throw startError(error);
  } finally {
    clearTimeout(counting);
  }
}

async function runSearch(ripgrep: Ripgrep, options: TextSearch, signal: AbortSignal, found: FoundLines): Promise<void> {
  const { path, flags, isShown, noteHidden } = scopeOf(options, found.notes);
  const nameOf = printedPaths(path);
  // Lines come file by file.
  let last = { path: '', isShown: false };
  const isFileShown = (file: BytePath) => {
    if (file !== last.path) last = { path: file, isShown: isShown(file) };
    return last.isShown;
  };
  const add = (line: RgLine) => {
    const file = nameOf(line.path);
    if (isFileShown(file)) found.add({ ...line, path: file });
  };
  const output = new RgOutput(add, (printed) => {
    if (isFileShown(nameOf(printed))) found.notes.add(binaryMatches, nameOf(printed));
  });
  const complaints = new Complaints(found.notes, { nameOf, isShown });
  const noted = noteHidden?.();
  // It is awaited at the end, also if it fails before.
  noted?.catch(() => undefined);
  try {
    const code = await ripgrep.run([...searchFlags(options, found), ...flags, '-e', options.pattern], {
      path,
      signal,
      onOutput: (chunk) => output.push(chunk),
      onError: (chunk) => complaints.push(chunk),
    });
    output.end();
    complaints.checkEnd(code, output);
  } finally {
    await noted;
  }
}

/** What ripgrep searches, and what of its output is shown. */
interface Scope {
  path: BytePath;
  flags: string[];
  /** The path of a directory ends in a slash. */
  isShown: (path: BytePath) => boolean;
  /** Notes what is not shown, beside the search: in a large directory this takes a while. */
  noteHidden?: () => Promise<void>;
}

/** An invalid pattern is an error even when there is nothing to search. */
const nothing: Scope = { path: devNull, flags: [], isShown: () => true };

function scopeOf(options: TextSearch, notes: WalkNotes): Scope {
  const { path, kind, ownState } = options;
  const place = fromBytePath(path);
  if (kind === 'file')
    return isHiddenFile(options, notes) ? nothing : { path, flags: ['--no-ignore', '--hidden'], isShown: () => true };
  const glob = options.glob === undefined ? undefined : compileFileGlob(options.glob, place);
  const tree = openTree({ ...options, directory: path, glob, notes });
  if (tree === undefined) return nothing;
  const isVisible = (file: BytePath) => tree.visible.has(file);
  // A directory of secrets is searched when the call names it.
  if (secrecyOf(place) !== undefined || ownState?.has(place) === true) return { ...tree, isShown: isVisible };
  return {
    path: tree.path,
    flags: [...tree.flags, ...withoutSecrets],
    isShown: (file) => isVisible(file) && !isSecret(file) && ownState?.has(fromBytePath(file)) !== true,
    noteHidden: () => noteSecrets(options, isVisible, notes),
  };
}

/** The notes do not depend on the pattern, or a secret could be guessed piece by piece. */
async function noteSecrets(
  options: TextSearch,
  isVisible: (path: BytePath) => boolean,
  notes: WalkNotes,
): Promise<void> {
  const own = (options.ownState?.roots ?? []).map((root) => asFolder(toBytePath(root))).filter(isThere);
  for (const path of [...(await secretsIn(options.path, options.signal)), ...own]) {
    const isDirectory = path.endsWith('/');
    const hider = options.rules.ignoredBy(fromBytePath(path.replace(/\/$/, '')), { isDirectory });
    if (hider === undefined && isVisible(path)) notes.add('not searched, because they hold secrets', path);
  }
}

/** A named file is searched even if git ignores it, but not if an agent's ignore file hides it, which is noted. */
function isHiddenFile(options: TextSearch, notes: WalkNotes): boolean {
  const path = fromBytePath(options.path);
  if (options.canRead?.(path) === false) return true;
  if (!isHiddenByAgent(path, options)) return false;
  notes.add(hiddenByAgent, options.path);
  return true;
}

/** How ripgrep searches and prints. */
function searchFlags({ pattern, context, letters }: TextSearch, found: FoundLines): string[] {
  return [
    ...outputFlags,
    ...(context > 0 ? [`--context=${context}`] : []),
    { smart: '--smart-case', exact: '--case-sensitive', any: '--ignore-case' }[letters],
    ...(isAboutLineEnds(pattern) ? ['--crlf'] : []),
    `--max-count=${found.maxPerFile}`,
  ];
}

/** `$` means the end of a line as it is shown, unless the pattern itself names the carriage return. */
function isAboutLineEnds(pattern: string): boolean {
  return pattern.includes('$') && !/\r|\\[rxuU]/.test(pattern);
}

async function shownText(found: FoundLines, cut: FoundText['cut'], signal: AbortSignal): Promise<FoundText> {
  const yielder = new Yielder(signal);
  // A directory may have become a symlink after it was listed and before its files were opened.
  for (const path of found.lines.keys()) {
    if (!isInPlaceNow(path)) found.drop(path);
    if (yielder.shouldYield) await yielder.yield();
  }
  const files = [...found.lines].map(([path, lines]) => ({ path: fromBytePath(path), lines: lines.map(shownLine) }));
  const sorted = files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files: sorted, matches: found.matches, notes: found.notes, ...(cut !== undefined && { cut }) };
}

function shownLine(line: RgLine): FoundLine {
  return { number: line.number, isMatch: line.isMatch, text: () => lineText(line) };
}

/** Matches of one file beyond the limit that are still counted. */
const countedPerFile = 10_000;

/** The result of a search so far: the lines to show, and how many match in all. */
class FoundLines {
  readonly lines = new Map<BytePath, RgLine[]>();
  readonly notes = new WalkNotes();
  matches = 0;
  /** Whether `matches` is all there was in the files seen so far. */
  isCounted = true;
  readonly #limit: number;
  readonly #context: number;
  readonly #onMore: () => void;
  #last = { path: '', number: 0, matches: 0 };

  /** `onMore` is called for each line after there are more matches than `limit`. */
  constructor({ limit, context }: { limit: number; context: number }, onMore: () => void) {
    this.#limit = limit;
    this.#context = context;
    this.#onMore = onMore;
  }

  /** For ripgrep's `--max-count`. */
  get maxPerFile(): number {
    return this.#limit + countedPerFile;
  }

  add(line: RgLine): void {
    if (this.#last.path !== line.path) this.#last = { path: line.path, number: 0, matches: 0 };
    if (line.isMatch) {
      this.matches++;
      this.#last = { path: line.path, number: line.number, matches: this.#last.matches + 1 };
      if (this.#last.matches === this.maxPerFile) this.isCounted = false;
    }
    if (this.matches > this.#limit) this.#onMore();
    if (this.#isShown(line)) this.#keep(line);
  }

  /** Removes the lines of a file. */
  drop(path: BytePath): void {
    this.matches -= this.lines.get(path)?.filter(({ isMatch }) => isMatch).length ?? 0;
    this.lines.delete(path);
    this.notes.add('moved during the search and not shown', path);
  }

  #isShown({ isMatch, number }: RgLine): boolean {
    if (isMatch) return this.matches <= this.#limit;
    if (this.matches < this.#limit) return true;
    return this.matches === this.#limit && this.#last.matches > 0 && number - this.#last.number <= this.#context;
  }

  #keep(line: RgLine): void {
    // Copied, because a slice would keep its whole chunk of output in memory.
    const kept = { ...line, text: Buffer.from(line.text) };
    const lines = this.lines.get(line.path);
    if (lines === undefined) this.lines.set(line.path, [kept]);
    else lines.push(kept);
  }
}
