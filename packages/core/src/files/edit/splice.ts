import { diffLines } from '../../text/line-diff.js';
import { breakAfter, breakBefore, lineEnd, lineStart, type TextBytes } from '../read/text-bytes.js';
import { foldLine } from './fold-text.js';
import { splitLines } from './match.js';
import type { Found, LineSpan, Match } from './text-match.js';

/** New bytes for the span from `start` to `end`. */
export interface Splice {
  start: number;
  end: number;
  bytes: Buffer;
}

/** What an edit asks for, as the call spells it. */
export interface Replacement {
  oldText: string;
  newText: string;
}

/**
 * The smallest splice that turns this match into `newText`. Lines (and, at both ends of a relaxed match, characters)
 * that the old and the new text share stay as they are in the file, whatever was ignored to find them. New lines end like the lines
 * around them. `undefined` when the encoding of the file lacks a character.
 */
export async function spliceFor(
  text: TextBytes,
  match: Match,
  found: Found,
  change: Replacement,
): Promise<Splice | undefined> {
  const span = spanOf(match.lines);
  if (isAboutLineEndings(change)) return encoded(text, span, change.newText);
  const given = splitLines(change.oldText);
  // The file ends without the line break that the old text ends with, so the new text ends without it too.
  const isUnfinished = match.lines.length < given.length;
  const oldLines = given.slice(0, match.lines.length);
  const newLines = splitLines(isUnfinished ? change.newText.replace(/\n$/, '') : change.newText);
  const { before, after } = sharedLines(oldLines, newLines);
  const stale = match.lines.slice(before, match.lines.length - after);
  const kept = found.relaxed.length > 0 ? await keptLines(oldLines, newLines) : new Map<number, number>();
  const fresh = newLines.slice(before, newLines.length - after).map((line, index) => {
    const same = match.lines[kept.get(before + index) ?? -1];
    return same ? decode(text, same) : reindented(line, found);
  });
  if (stale.length === 0 && fresh.length === 0) return encoded(text, { start: span.end, end: span.end }, '');
  let breaks: string[] | undefined;
  const breakAt = (index: number) => {
    breaks ??= breaksOf(text, match);
    return breaks[Math.max(0, Math.min(before + index, breaks.length - 1))] ?? '\n';
  };
  const [head, tail] = [match.lines[before - 1], match.lines[match.lines.length - after]];
  if (fresh.length === 0) return encoded(text, withBreak(spanOf(stale), head, tail), '');
  if (stale.length > 0) {
    const content = fresh.reduce((all, line, index) => all + breakAt(index - 1) + line);
    return narrowed(text, stale, oldLines.slice(before, oldLines.length - after).join('\n'), content);
  }
  if (head === undefined)
    return encoded(text, { ...span, end: span.start }, fresh.map((line) => line + breakAt(0)).join(''));
  const content = fresh.map((line, index) => breakAt(index - 1) + line).join('');
  return encoded(text, { start: head.end, end: head.end }, content);
}

function spanOf(lines: readonly LineSpan[]): LineSpan {
  return { start: lines[0]?.start ?? 0, end: lines.at(-1)?.end ?? 0 };
}

/** Removed lines take one line break with them: the one before or, at the start of the match, the one after. */
function withBreak({ start, end }: LineSpan, head: LineSpan | undefined, tail: LineSpan | undefined): LineSpan {
  return head ? { start: head.end, end } : { start, end: tail?.start ?? end };
}

/** Line endings are taken literally when the new text has a carriage return, or only line endings change. */
function isAboutLineEndings({ oldText, newText }: Replacement): boolean {
  if (newText.includes('\r')) return true;
  return oldText.includes('\r') && splitLines(oldText).join('\n') === newText;
}

function sharedLines(oldLines: readonly string[], newLines: readonly string[]): { before: number; after: number } {
  const most = Math.min(oldLines.length, newLines.length);
  let before = 0;
  while (before < most && oldLines[before] === newLines[before]) before++;
  let after = 0;
  while (after < most - before && oldLines.at(-1 - after) === newLines.at(-1 - after)) after++;
  return { before, after };
}

/** The old line that each unchanged new line comes from. */
async function keptLines(oldLines: readonly string[], newLines: readonly string[]): Promise<Map<number, number>> {
  const kept = new Map<number, number>();
  const end = { oldStart: oldLines.length, oldEnd: 0, newStart: newLines.length, newEnd: 0 };
  let [oldAt, newAt] = [0, 0];
  for (const edit of [...(await diffLines(oldLines, newLines)), end]) {
    while (newAt < edit.newStart) kept.set(newAt++, oldAt++);
    [oldAt, newAt] = [edit.oldEnd, edit.newEnd];
  }
  return kept;
}

function reindented(line: string, { reindent }: Found): string {
  const indent = /^[ \t]*/.exec(line)?.[0] ?? '';
  if (!reindent || indent === line) return line;
  return (reindent(indent) ?? indent) + line.slice(indent.length);
}

/** The line breaks inside the match or, for a match in one line, the one that ends or begins that line. */
function breaksOf(text: TextBytes, { lines }: Match): string[] {
  const inside = lines.slice(1).map((line, index) => decode(text, { start: lines[index]?.end ?? 0, end: line.start }));
  if (inside.length > 0) return inside;
  const [line] = lines;
  if (!line) return [];
  const end = lineEnd(text, line.end);
  const next = decode(text, { start: end, end: end + breakAfter(text, end) });
  if (next !== '') return [next];
  const start = lineStart(text, line.start);
  const previous = decode(text, { start: start - breakBefore(text, start), end: start });
  return previous === '' ? [] : [previous];
}

/** Keeps the characters at both ends that the needle shares with its replacement but spells differently than the file. */
function narrowed(text: TextBytes, stale: readonly LineSpan[], oldText: string, newText: string): Splice | undefined {
  const whole = spanOf(stale);
  const offsetAt = stale[0]?.offsetAt;
  // Columns are those of the folded line, so the needle must be one.
  if (stale.length > 1 || !offsetAt || foldLine(oldText).text !== oldText) return encoded(text, whole, newText);
  let { head, tail } = sharedEnds(oldText, newText);
  while (head > 0 && offsetAt(head) === undefined) head--;
  while (tail > 0 && offsetAt(oldText.length - tail) === undefined) tail--;
  const start = offsetAt(head) ?? whole.start;
  const end = tail === 0 ? whole.end : (offsetAt(oldText.length - tail) ?? whole.end);
  return encoded(text, { start, end }, newText.slice(head, newText.length - tail));
}

function sharedEnds(a: string, b: string): { head: number; tail: number } {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < most - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  return { head, tail };
}

function encoded(text: TextBytes, { start, end }: LineSpan, content: string): Splice | undefined {
  const bytes = text.codec.encode(content);
  return bytes && { start, end, bytes };
}

function decode(text: TextBytes, { start, end }: LineSpan): string {
  return text.codec.decode(text.bytes.subarray(start, end));
}

/**
 * The new content: slices of the original with the splices in between, so bytes outside them cannot differ. Splices must
 * be in order and must not overlap.
 */
export function applySplices(original: Buffer, splices: readonly Splice[]): Buffer[] {
  const pieces: Buffer[] = [];
  let position = 0;
  for (const { start, end, bytes } of splices) {
    if (start < position || end < start || end > original.length) throw new Error('splices overlap or leave the file');
    pieces.push(original.subarray(position, start), bytes);
    position = end;
  }
  pieces.push(original.subarray(position));
  return pieces.filter((piece) => piece.length > 0);
}
