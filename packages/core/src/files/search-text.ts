import { devNull } from 'node:os';
import { setTimeout as setTimer } from 'node:timers';
import { fromBytePath } from './byte-path.js';
import { compileFileGlob } from './file-glob.js';
import { FoundLines } from './found-lines.js';
import { searchKnownTree } from './known-search.js';
import { lineText } from './line-window.js';
import { secrecyOf } from './protected-paths.js';
import type { RgLine } from './rg-output.js';
import type { Ripgrep } from './ripgrep.js';
import { startError } from './ripgrep-error.js';
import type { SearchJob, TextSearch } from './search-job.js';
import { isInPlaceNow } from './search-place.js';
import { Slice } from './slice.js';
import { searchTree } from './tree-search.js';
import { isHiddenByAgent } from './visibility.js';
import { walk } from './walk.js';
import { hiddenByAgent, type WalkNotes } from './walk-notes.js';
import { searchFile, searchWalked } from './walked-search.js';

export interface FoundLine {
  number: number;
  isMatch: boolean;
  /** Read from the file when it is far into a long line: to be asked for in turn, and only for what is shown. */
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

/** After the limit the search goes on for a moment, because most searches then end and the total is known. */
const countingMs = 5;

/** Lines that match, searched by ripgrep in the files that our rules show. */
export async function searchText(ripgrep: Ripgrep, options: TextSearch): Promise<FoundText> {
  const place = fromBytePath(options.path);
  const enough = new AbortController();
  const time = AbortSignal.timeout(options.timeoutMs);
  let counting: NodeJS.Timeout | undefined;
  const nothing = () => new FoundLines(options, () => (counting ??= setTimer(() => enough.abort(), countingMs)));
  const job: SearchJob = {
    ripgrep,
    options,
    glob: options.glob === undefined ? undefined : compileFileGlob(options.glob, place),
    isSecretPlace: secrecyOf(place) !== undefined || options.isOwnState?.(place) === true,
    signal: AbortSignal.any([options.signal, time, enough.signal]),
    found: nothing(),
  };
  try {
    if (options.kind === 'file') await searchFile(job, isHiddenFile(job) ? devNull : options.path);
    else
      for (const search of [searchKnownTree, ...(job.glob === undefined ? [searchTree] : []), searchByWalk]) {
        if (await search(job)) break;
        clearTimeout(counting);
        counting = undefined;
        job.found = nothing();
      }
    return await resultOf(job, job.found.isCounted ? undefined : 'limit');
  } catch (error) {
    options.signal.throwIfAborted();
    if (enough.signal.aborted) return await resultOf(job, 'limit');
    if (time.aborted) return await resultOf(job, 'time');
    throw startError(error);
  } finally {
    clearTimeout(counting);
  }
}

async function searchByWalk(job: SearchJob): Promise<true> {
  const { path: directory, rules, disregard = new Set(), canRead } = job.options;
  const { notes } = job.found;
  const options = { directory, rules, disregard, canRead, notes, ...(job.glob && { glob: job.glob.start }) };
  const hasRun = await searchWalked(job, (signal) => walk({ ...options, signal }));
  // A pattern is judged even when there was nothing to search.
  if (!hasRun) await searchFile(job, devNull);
  return true;
}

/** A named file is searched even if git ignores it; what an agent's ignore file hides is noted. */
function isHiddenFile({ options, found }: SearchJob): boolean {
  const path = fromBytePath(options.path);
  if (options.canRead?.(path) === false) return true;
  if (!isHiddenByAgent(path, options)) return false;
  found.notes.add(hiddenByAgent, options.path);
  return true;
}

async function resultOf({ found, options }: SearchJob, cut: FoundText['cut']): Promise<FoundText> {
  const slice = new Slice(options.signal);
  // Links are not followed; but a directory may have become one after it was listed and before its files were opened.
  for (const path of found.lines.keys()) {
    if (!isInPlaceNow(path)) found.drop(path);
    if (slice.tick()) await slice.pause();
  }
  const files = [...found.lines].map(([path, lines]) => ({ path: fromBytePath(path), lines: lines.map(shownLine) }));
  const sorted = files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files: sorted, matches: found.matches, notes: found.notes, ...(cut !== undefined && { cut }) };
}

function shownLine(line: RgLine): FoundLine {
  return { number: line.number, isMatch: line.isMatch, text: () => lineText(line) };
}
