import { diffLines } from '../text/line-diff.js';
import {
  contextLines,
  type DiffNames,
  formatDiff,
  type Hunk,
  hunksOf,
  splitKeepingBreaks,
} from '../text/unified-diff.js';
import type { Pace } from './pace.js';
import { applySplices, type Splice } from './splice.js';
import { breakAfter, breakBefore, lineEnd, lineNumberAt, lineStart, type TextBytes } from './text-bytes.js';

/** What a change looks like to a person. */
export interface ChangeView {
  /** Unified diff. */
  diff: string;
  /** The diff leaves something out because the change is too large to be looked at. */
  isCut: boolean;
  addedLines: number;
  removedLines: number;
  addedChars: number;
  removedChars: number;
}

/** What a change does to a text: the old one and the spans that get new bytes, in order and apart. */
export interface TextChange {
  text: TextBytes;
  splices: readonly Splice[];
}

/** Bytes of one region that are compared, and hunks that are shown. */
const maxRegion = 256 << 10;
const maxHunks = 400;

/** The diff of a change, made from the changed regions alone: the rest of the file is not looked at. */
export async function viewChange(change: TextChange, names: DiffNames, pace: Pace): Promise<ChangeView> {
  const hunks: Hunk[] = [];
  let isCut = false;
  let shift = 0;
  for (const region of regionsOf(change)) {
    if (hunks.length >= maxHunks) {
      isCut = true;
      break;
    }
    const line = (await lineNumberAt(change.text, region.start, pace)) - 1;
    const { oldLines, newLines, isWhole } = linesOf(change.text, region);
    const offset = { old: line, new: line + shift };
    hunks.push(...hunksOf(oldLines, newLines, await diffLines(oldLines, newLines), offset));
    shift += newLines.length - oldLines.length;
    isCut ||= !isWhole;
    if (pace.isTired) await pace.rest();
  }
  const diff = formatDiff(hunks, names);
  return { diff: isCut ? `${diff}(the change is larger than this diff shows)\n` : diff, isCut, ...countsOf(hunks) };
}

interface Region {
  /** The bytes of whole lines, with context. */
  start: number;
  end: number;
  splices: Splice[];
}

/** Splices whose lines, with the context around them, touch are shown together. */
function* regionsOf({ text, splices }: TextChange): Generator<Region> {
  let region: Region | undefined;
  for (const splice of splices) {
    const start = linesUp(text, lineStart(text, splice.start), contextLines);
    if (region && start <= region.end) region.splices.push(splice);
    else {
      if (region) yield region;
      region = { start, end: 0, splices: [splice] };
    }
    region.end = linesDown(text, splice.end, contextLines);
  }
  if (region) yield region;
}

function linesUp(text: TextBytes, offset: number, count: number): number {
  let start = offset;
  for (let line = 0; line < count && start > 0; line++) start = lineStart(text, start - breakBefore(text, start));
  return start;
}

/** After the line around `offset` and `count` more. */
function linesDown(text: TextBytes, offset: number, count: number): number {
  let end = offset;
  for (let line = 0; line <= count; line++) {
    end = lineEnd(text, end);
    end += breakAfter(text, end);
  }
  return end;
}

function linesOf(text: TextBytes, { start, end, splices }: Region) {
  const old = text.bytes.subarray(start, end);
  const moved = splices.map((splice) => ({ ...splice, start: splice.start - start, end: splice.end - start }));
  const size = old.length + splices.reduce((sum, splice) => sum + splice.bytes.length, 0);
  const isWhole = size <= 2 * maxRegion;
  const changed = Buffer.concat(applySplices(old, moved), isWhole ? undefined : maxRegion);
  return {
    oldLines: splitKeepingBreaks(text.codec.decode(isWhole ? old : old.subarray(0, maxRegion))),
    newLines: splitKeepingBreaks(text.codec.decode(changed)),
    isWhole,
  };
}

function countsOf(hunks: readonly Hunk[]) {
  const counts = { addedLines: 0, removedLines: 0, addedChars: 0, removedChars: 0 };
  for (const { lines } of hunks) {
    for (const { sign, text } of lines) {
      if (sign === '+') {
        counts.addedLines++;
        counts.addedChars += text.length;
      } else if (sign === '-') {
        counts.removedLines++;
        counts.removedChars += text.length;
      }
    }
  }
  return counts;
}

/** A stretch of the new content for the model. */
export interface Snippet {
  firstLine: number;
  lastLine: number;
  text: string;
}

const snippetContext = 4;
const maxSnippetBytes = 16 << 10;

/** The first changed place as it is now, with four lines around it. */
export async function snippetOf({ text, splices }: TextChange, pace: Pace): Promise<Snippet> {
  const [first] = splices;
  const start = linesUp(text, lineStart(text, first?.start ?? 0), snippetContext);
  const near = splices.filter((splice) => splice.end - start < maxSnippetBytes / 2);
  const end = Math.min(linesDown(text, near.at(-1)?.end ?? first?.end ?? 0, snippetContext), start + maxSnippetBytes);
  const moved = near.map((splice) => ({ ...splice, start: splice.start - start, end: splice.end - start }));
  const bytes = Buffer.concat(applySplices(text.bytes.subarray(start, Math.max(end, near.at(-1)?.end ?? end)), moved));
  const shown = text.codec.decode(bytes.subarray(0, maxSnippetBytes));
  const firstLine = await lineNumberAt(text, start, pace);
  // As everywhere else, a line ends with a line feed.
  const lines = shown.replace(/\n$/, '').split('\n').length;
  return { firstLine, lastLine: firstLine + lines - 1, text: shown };
}

/** How many lines the text has after the change. */
export async function totalLines({ text, splices }: TextChange, pace: Pace): Promise<number> {
  let lineFeeds = (await lineNumberAt(text, text.bytes.length, pace)) - 1;
  for (const { start, end, bytes } of splices) {
    lineFeeds += lineFeedsIn(text, bytes) - lineFeedsIn(text, text.bytes.subarray(start, end));
    if (pace.isTired) await pace.rest();
  }
  const last = splices.at(-1);
  const tail = last && last.end === text.bytes.length && last.bytes.length > 0 ? { ...text, bytes: last.bytes } : text;
  return lineFeeds + (breakBefore(tail, tail.bytes.length) > 0 || tail.bytes.length === 0 ? 0 : 1);
}

function lineFeedsIn(text: TextBytes, bytes: Buffer): number {
  const { unit } = text.codec;
  let count = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) {
    if (unit === 1 || breakAfter({ ...text, bytes }, at - (at % unit)) > 0) count++;
  }
  return count;
}
