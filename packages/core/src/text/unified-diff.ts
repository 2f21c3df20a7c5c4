import type { LineEdit } from './line-diff.js';
import { spelledOut } from './visible-text.js';

/** Adjacent changes with their context lines. Line numbers are 0-based. */
export interface Hunk {
  oldStart: number;
  newStart: number;
  /** Each with its line break, if it has one. */
  lines: { sign: ' ' | '-' | '+'; text: string }[];
}

export interface DiffNames {
  /** `null` when there was no file before. */
  oldName: string | null;
  newName: string;
}

export const contextLines = 3;

/** The hunks of these edits. `offset` says how many lines precede the given ones in the two files. */
export function hunksOf(
  oldLines: readonly string[],
  newLines: readonly string[],
  edits: readonly LineEdit[],
  offset = { old: 0, new: 0 },
): Hunk[] {
  const hunks: Hunk[] = [];
  for (const group of groupsOf(edits)) {
    const [first, last] = [group[0], group.at(-1)];
    if (!first || !last) continue;
    const start = Math.max(0, first.oldStart - contextLines);
    const lines: Hunk['lines'] = [];
    const take = (sign: ' ' | '-' | '+', from: readonly string[]) =>
      lines.push(...from.map((text) => ({ sign, text })));
    let at = start;
    for (const { oldStart, oldEnd, newStart, newEnd } of group) {
      take(' ', oldLines.slice(at, oldStart));
      take('-', oldLines.slice(oldStart, oldEnd));
      take('+', newLines.slice(newStart, newEnd));
      at = oldEnd;
    }
    take(' ', oldLines.slice(at, at + contextLines));
    hunks.push({
      oldStart: offset.old + start,
      newStart: offset.new + first.newStart - (first.oldStart - start),
      lines,
    });
  }
  return hunks;
}

/** Groups edits whose context lines touch. */
function groupsOf(edits: readonly LineEdit[]): LineEdit[][] {
  const groups: LineEdit[][] = [];
  for (const edit of edits) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group && last && edit.oldStart - last.oldEnd <= 2 * contextLines) group.push(edit);
    else groups.push([edit]);
  }
  return groups;
}

/**
 * The unified diff that the user approves, without invisible characters: mixed line endings are marked, and control,
 * bidirectional and zero-width characters are shown by their code. A byte order mark at the start of the file is `<BOM>`.
 */
export function formatDiff(hunks: readonly Hunk[], { oldName, newName }: DiffNames): string {
  if (hunks.length === 0) return '';
  const out = [`--- ${oldName === null ? '/dev/null' : visibleName(oldName)}`, `+++ ${visibleName(newName)}`];
  const showReturns = mixesLineEndings(hunks);
  for (const { oldStart, newStart, lines } of hunks) {
    const [removed, added] = [
      lines.filter(({ sign }) => sign !== '+').length,
      lines.filter(({ sign }) => sign !== '-').length,
    ];
    out.push(`@@ -${rangeOf(oldStart, removed)} +${rangeOf(newStart, added)} @@`);
    const [firstOld, firstNew] = [lines.find(({ sign }) => sign !== '+'), lines.find(({ sign }) => sign !== '-')];
    for (const line of lines) {
      const { sign, text } = line;
      const isFirst = (oldStart === 0 && line === firstOld) || (newStart === 0 && line === firstNew);
      const hasMark = isFirst && text.startsWith('\ufeff');
      out.push(sign + (hasMark ? `<BOM>${visible(text.slice(1), showReturns)}` : visible(text, showReturns)));
      if (!text.endsWith('\n') && !text.endsWith('\r')) out.push('\\ No newline at end of file');
    }
  }
  return `${out.join('\n')}\n`;
}

/** Where a diff shows invisible characters by their code, such as `U+200B in line 3`. */
export function spelledPlaces(diff: string): string[] {
  const places: string[] = [];
  const at = { old: 0, new: 0 };
  for (const line of diff.split('\n')) {
    const [, oldStart, newStart] = /^@@ -(\d+)\S* \+(\d+)/.exec(line) ?? [];
    if (oldStart !== undefined) Object.assign(at, { old: Number(oldStart), new: Number(newStart) });
    const isHeader = at.new === 0 && at.old === 0;
    const where = isHeader ? 'the name' : line.startsWith('-') ? `removed line ${at.old}` : `line ${at.new}`;
    for (const [, code] of line.matchAll(/<(U\+[0-9A-F]{4,6})>/g)) places.push(`${code} in ${where}`);
    if (isHeader || oldStart !== undefined) continue;
    if (!line.startsWith('+')) at.old++;
    if (!line.startsWith('-')) at.new++;
  }
  return places;
}

/** The lines of a text, each with its line break. */
export function splitKeepingBreaks(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? [];
}

function rangeOf(start: number, count: number): string {
  return count === 1 ? `${start + 1}` : `${count === 0 ? start : start + 1},${count}`;
}

function mixesLineEndings(hunks: readonly Hunk[]): boolean {
  const kinds = new Set<string>();
  for (const { lines } of hunks) for (const { text } of lines) kinds.add(/\r?\n$|\r$/.exec(text)?.[0] ?? '');
  kinds.delete('');
  return kinds.size > 1;
}

function visible(line: string, showReturns: boolean): string {
  const content = line.replace(/\r?\n$|\r$/, '');
  const ending = line.slice(content.length);
  const mark = !showReturns || ending === '\n' || ending === '' ? '' : ending === '\r\n' ? '␍' : '␍ (CR alone)';
  return spelledOut(content) + mark;
}

/** A name on one line, so that it cannot imitate a part of the diff. */
function visibleName(name: string): string {
  return spelledOut(name).replaceAll('\n', '<U+000A>').replaceAll('\t', '<U+0009>');
}
