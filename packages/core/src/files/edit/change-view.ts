import type { Yielder } from '../../async/yielder.js';
import { diffLines } from '../../text/line-diff.js';
import {
  contextLines,
  type DiffNames,
  formatDiff,
  type Hunk,
  hunksOf,
  splitKeepingBreaks,
} from '../../text/unified-diff.js';
import {
  breakAfter,
  breakBefore,
  lineEnd,
  lineFeedsIn,
  lineNumberAt,
  lineStart,
  linesUp,
  type TextBytes,
} from '../read/text-bytes.js';
import { applySplices, type Splice } from './splice.js';

/** A change as a person sees it. */
export interface ChangeView {
  /** Unified diff. */
  diff: string;
  /** The diff is incomplete because the change is too large to show. */
  isCut: boolean;
  addedLines: number;
  removedLines: number;
  addedChars: number;
  removedChars: number;
}

/** A change of a text: the old text and the spans that get new bytes, in order and without overlap. */
export interface TextChange {
  text: TextBytes;
  splices: readonly Splice[];
}

/** How many bytes of one region are compared, and how many hunks are shown. */
const maxRegion = 256 << 10;
const maxHunks = 400;

/** The diff of a change, made from the changed regions alone: `npm run bench -- --only 'edit one hit in 10 MB'`. */
export async function viewChange(change: TextChange, names: DiffNames, yielder: Yielder): Promise<ChangeView> {
  const hunks: Hunk[] = [];
  let isCut = false;
  let shift = 0;
  for (const region of regionsOf(change)) {
    if (hunks.length >= maxHunks) {
      isCut = true;
      break;
    }
    const { start, oldLines, newLines, isWhole } = linesOf(change.text, region);
    const line = (await lineNumberAt(change.text, start, yielder)) - 1;
    const offset = { old: line, new: line + shift };
    hunks.push(...hunksOf(oldLines, newLines, await diffLines(oldLines, newLines), offset));
    shift += newLines.length - oldLines.length;
    isCut ||= !isWhole;
    if (yielder.shouldYield) await yielder.yield();
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

/** After the line around `offset` and `count` more. */
function linesDown(text: TextBytes, offset: number, count: number): number {
  let end = offset;
  for (let line = 0; line <= count; line++) {
    end = lineEnd(text, end);
    end += breakAfter(text, end);
  }
  return end;
}

/** The lines of a region before and after; of one that is too large, the part where the change begins. */
function linesOf(text: TextBytes, { start, end, splices }: Region) {
  const size = end - start + splices.reduce((sum, splice) => sum + splice.bytes.length, 0);
  const isWhole = size <= 2 * maxRegion;
  const from = isWhole ? start : Math.max(start, nearBefore(text, splices[0]?.start ?? start, maxRegion / 2));
  const old = text.bytes.subarray(from, end);
  const pieces = applySplices(old, moved(splices, from));
  const newSize = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const most = isWhole ? Number.POSITIVE_INFINITY : maxRegion;
  const decode = (bytes: Buffer, length: number) =>
    splitKeepingBreaks(cleanCut(text.codec.decode(bytes), { before: from > start, after: length > most }));
  return {
    start: from,
    oldLines: decode(old.subarray(0, most), old.length),
    newLines: decode(Buffer.concat(pieces, Math.min(newSize, most)), newSize),
    isWhole,
  };
}

function moved(splices: readonly Splice[], by: number): Splice[] {
  return splices.map(({ start, end, bytes }) => ({ start: start - by, end: end - by, bytes }));
}

/** Some bytes before `offset`, between two code units. */
function nearBefore({ codec }: TextBytes, offset: number, distance: number): number {
  const near = Math.max(0, offset - distance);
  return near - (near % codec.unit);
}

/** Marks where text was cut, and drops the rest of a split character. */
function cleanCut(text: string, { before, after }: { before: boolean; after: boolean }): string {
  const head = before ? `…${text.replace(/^[\uFFFD\uDC00-\uDFFF]{1,3}/, '')}` : text;
  return after ? `${head.replace(/[\uFFFD\uD800-\uDBFF]{1,3}$/, '')}…` : head;
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
/** How much of a very long line is shown on either side. */
const maxAside = 2 << 10;

/** The first changed place as it is now, with four lines around it. */
export async function snippetOf({ text, splices }: TextChange, yielder: Yielder): Promise<Snippet> {
  const first = splices[0]?.start ?? 0;
  const wholeStart = linesUp(text, lineStart(text, first), snippetContext);
  const start = Math.max(wholeStart, nearBefore(text, first, maxAside));
  const near = splices.filter((splice) => splice.start - start < maxSnippetBytes / 2);
  const last = near.at(-1)?.end ?? first;
  const wholeEnd = linesDown(text, last, snippetContext);
  const end = Math.min(wholeEnd, last + maxAside);
  const bytes = Buffer.concat(applySplices(text.bytes.subarray(start, end), moved(near, start)));
  const isCut = { before: start > wholeStart, after: end < wholeEnd || bytes.length > maxSnippetBytes };
  const shown = cleanCut(text.codec.decode(bytes.subarray(0, maxSnippetBytes)), isCut);
  const firstLine = await lineNumberAt(text, start, yielder);
  // As everywhere else, a line ends with a line feed.
  const lines = shown.replace(/\n$/, '').split('\n').length;
  return { firstLine, lastLine: firstLine + lines - 1, text: shown };
}

/** How many lines the text has after the change. */
export async function totalLines({ text, splices }: TextChange, yielder: Yielder): Promise<number> {
  let lineFeeds = (await lineNumberAt(text, text.bytes.length, yielder)) - 1;
  for (const { start, end, bytes } of splices) {
    lineFeeds += lineFeedsIn(text, bytes) - lineFeedsIn(text, text.bytes.subarray(start, end));
    if (yielder.shouldYield) await yielder.yield();
  }
  const last = splices.at(-1);
  const tail = last && last.end === text.bytes.length && last.bytes.length > 0 ? { ...text, bytes: last.bytes } : text;
  return lineFeeds + (breakBefore(tail, tail.bytes.length) > 0 || tail.bytes.length === 0 ? 0 : 1);
}
