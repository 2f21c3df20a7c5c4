import { lineWidth, markGaps, sanitize, withoutBreak, wrapLines } from './lines.js';
import type { Style } from './style.js';

interface DiffLine {
  sign: ' ' | '-' | '+';
  /** The line number in the old file for `-`, otherwise in the new file. */
  number: number;
  text: string;
}

export interface DiffOptions {
  width: number;
  maxLines?: number;
}

/** Renders a unified diff with line numbers and colours. Highlights changed parts of lines, tabs and trailing spaces. */
export function renderDiff(diff: string, style: Style, { width, maxLines = Number.POSITIVE_INFINITY }: DiffOptions) {
  const { notes, rows } = parseDiff(diff);
  const gutter = Math.max(1, ...rows.map((row) => ('number' in row ? String(row.number).length : 0)));
  const shown = rows.slice(0, maxLines);
  const replacements = replacementsIn(shown);
  const lines = shown.flatMap((row) => {
    if ('note' in row) return wrapLines(style.dim(sanitize(row.note)), width);
    const room = Math.max(8, width - gutter - 3);
    const paint = row.sign === '+' ? style.added : row.sign === '-' ? style.removed : (text: string) => text;
    // The background of a changed line reaches the edge.
    const fill = (line: string) =>
      row.sign === ' ' || style.isPlain ? line : line + paint(' '.repeat(Math.max(0, room - lineWidth(line))));
    const wrapped = wrapLines(paintText(row, replacements.get(row), style), room).map(withoutBreak);
    return wrapped.map((line, index) =>
      index === 0
        ? `${style.dim(String(row.number).padStart(gutter))} ${paint(`${row.sign} `)}${fill(line)}`
        : `${' '.repeat(gutter)} ${paint('  ')}${fill(line)}`,
    );
  });
  const omitted = rows.length - shown.length;
  return [
    ...notes.map((note) => style.dim(sanitize(note))),
    ...lines,
    ...(omitted > 0 ? [style.dim(`… ${omitted} more lines`)] : []),
  ].join('\n');
}

/** The added and removed lines of a unified diff. */
export function countLines(diff: string): { added: number; removed: number } {
  const { rows } = parseDiff(diff);
  const count = (sign: string) => rows.filter((row) => 'sign' in row && row.sign === sign).length;
  return { added: count('+'), removed: count('-') };
}

/** Notes are the lines above the first hunk, without the file names. */
function parseDiff(diff: string): { notes: string[]; rows: (DiffLine | { note: string })[] } {
  const notes: string[] = [];
  const rows: (DiffLine | { note: string })[] = [];
  let [oldLine, newLine, isInHunk] = [0, 0, false];
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    const sign = line[0];
    if (hunk) {
      if (isInHunk) rows.push({ note: '⋮' });
      [oldLine, newLine, isInHunk] = [Number(hunk[1]), Number(hunk[2]), true];
    } else if (!isInHunk) {
      if (line === '--- /dev/null') notes.push('new file');
      else if (!/^(---|\+\+\+) /.test(line) && line !== '') notes.push(line);
    } else if (sign === '+') rows.push({ sign, number: newLine++, text: line.slice(1) });
    else if (sign === '-') rows.push({ sign, number: oldLine++, text: line.slice(1) });
    else if (sign === '\\') rows.push({ note: line });
    else {
      rows.push({ sign: ' ', number: newLine++, text: line.slice(1) });
      oldLine++;
    }
  }
  return { notes, rows };
}

/** Pairs removed and added lines if as many lines were added as were removed just before. */
function replacementsIn(rows: readonly (DiffLine | { note: string })[]): Map<DiffLine, DiffLine> {
  const pairs = new Map<DiffLine, DiffLine>();
  const isSigned = (row: (typeof rows)[number] | undefined, sign: string): row is DiffLine =>
    row !== undefined && 'sign' in row && row.sign === sign;
  for (let at = 0; at < rows.length; at++) {
    let count = 0;
    while (isSigned(rows[at + count], '-')) count++;
    for (let index = 0; index < count && isSigned(rows[at + 2 * count - 1], '+'); index++) {
      const [before, after] = [rows[at + index], rows[at + count + index]];
      if (!isSigned(before, '-') || !isSigned(after, '+')) continue;
      pairs.set(before, after);
      pairs.set(after, before);
    }
    at += count;
  }
  return pairs;
}

function paintText({ sign, text }: DiffLine, other: DiffLine | undefined, style: Style): string {
  if (sign === ' ') return style.dim(sanitize(text));
  const [paint, paintPart] = sign === '+' ? [style.added, style.addedPart] : [style.removed, style.removedPart];
  if (!other) return paint(marked(text));
  const [from, to] = changedRange(text, other.text);
  const part = (start: number, end: number, apply: typeof paint) =>
    start === end ? '' : apply(marked(text.slice(start, end), { isEnd: end === text.length }));
  return part(0, from, paint) + part(from, to, paintPart) + part(to, text.length, paint);
}

/** The part of `text` between the common start and the common end of both texts. */
function changedRange(text: string, other: string): [from: number, to: number] {
  const length = Math.min(text.length, other.length);
  let from = 0;
  while (from < length && text[from] === other[from]) from++;
  let same = 0;
  while (same < length - from && text.at(-1 - same) === other.at(-1 - same)) same++;
  // Do not split surrogate pairs.
  if (/[\uDC00-\uDFFF]/.test(text[from] ?? '') && from > 0) from--;
  if (/[\uDC00-\uDFFF]/.test(text[text.length - same] ?? '') && same > 0) same--;
  return [from, text.length - same];
}

/** Makes tabs and trailing spaces visible. */
function marked(text: string, { isEnd = true } = {}): string {
  const tabs = markGaps(text).replaceAll('\t', '→\t');
  return sanitize(isEnd ? tabs.replace(/ +(?=␍?$)/, (spaces) => '·'.repeat(spaces.length)) : tabs);
}
