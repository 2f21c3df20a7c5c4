import { visibleText } from '@lathe/core/host';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** Longer lines are truncated unless a card is expanded, because wrapping a megabyte would block the screen. */
const maxLineChars = 2_000;

/** Makes untrusted text safe for the screen: escapes control characters and replaces tabs with spaces. */
export function sanitize(text: string): string {
  return visibleText(text).replaceAll('\t', '    ');
}

/** Characters that take one column each. Measuring other text is slow. */
const narrow =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0400-\u0482\u2010-\u2027\u2030-\u205e\u2190-\u2193\u2500-\u25ab✓✗❯☐☑●○▶⏎✻]*$/;
// oxlint-disable-next-line no-control-regex -- colour sequences
const colours = /\u001b\[[\d;]*m/g;
// oxlint-disable-next-line no-control-regex -- colour sequences
const leadingSpace = /^((?:\u001b\[[\d;]*m)*) (?=\S|\u001b)/;

/** The width of a styled line in columns. */
export function lineWidth(line: string): number {
  const text = line.replace(colours, '');
  return narrow.test(text) ? text.length : stringWidth(text);
}

/** Wraps styled text to lines of at most `width` columns. Keeps all spaces. */
export function wrapLines(text: string, width: number): string[] {
  const lines = text.split('\n');
  // A colour that spans lines must be closed and reopened at each line break.
  const isSeparable = lines.length === 1 || !text.includes('\u001b');
  if (isSeparable && lines.every((line) => lineWidth(line) <= width)) return lines;
  return wrapAnsi(text, Math.max(1, width), { hard: true, trim: false }).split('\n');
}

/**
 * Wraps like `wrapLines`, but what is left of a long line starts in the column of its text, not at the edge. `wanted` is
 * that column where it is known.
 */
export function wrapHanging(text: string, width: number, wanted?: number): string[] {
  return wrapLines(text, Number.MAX_SAFE_INTEGER).flatMap((line) => {
    if (lineWidth(line) <= width) return [line];
    const isWanted = wanted !== undefined && wanted <= width / 2;
    const column = isWanted ? wanted : textColumn(line.replace(colours, ''));
    if (column === 0 || column > width / 2) return wrapLines(line, width).map(withoutBreak);
    const [mark = '', ...rest] = wrapAnsi(line, column, { hard: true, trim: false, wordWrap: false }).split('\n');
    const [first = '', ...more] = wrapLines(rest.join(''), width - column).map(withoutBreak);
    return [mark + first, ...more.map((each) => ' '.repeat(column) + each)];
  });
}

/** A wrapped line does not begin with the space at which it was broken. */
export function withoutBreak(line: string, index: number): string {
  return index === 0 ? line : line.replace(leadingSpace, '$1');
}

/** Where the text of a line starts: after its indent and mark, or in the second column of a table. */
function textColumn(line: string): number {
  const table = /^\s*\S.{0,60}?\s{2,}(?=\S)/.exec(line);
  const mark = /^\s*(?:[-*•·!?❯✓✗●○–☐☑▶│] +|\d{1,3}[.)] +)?/u.exec(line);
  return (table ?? mark)?.[0].length ?? 0;
}

/** Truncates a styled line to `width` columns. */
export function truncateLine(line: string, width: number): string {
  if (lineWidth(line) <= width) return line;
  const [start = ''] = wrapAnsi(line, Math.max(1, width - 1), { hard: true, trim: false, wordWrap: false }).split('\n');
  return `${start}…`;
}

/** The end of a plain line, truncated at its start to `width` columns. */
export function truncateStart(line: string, width: number): string {
  if (lineWidth(line) <= width) return line;
  const characters = Array.from(new Intl.Segmenter().segment(line), ({ segment }) => segment);
  let shown = '';
  for (let next = characters.pop(); next !== undefined && lineWidth(next + shown) < width; next = characters.pop())
    shown = next + shown;
  return `…${shown}`;
}

/** Pads a styled line with spaces to `width` columns. */
export function padLine(line: string, width: number): string {
  return line + ' '.repeat(Math.max(0, width - lineWidth(line)));
}

export interface Excerpt {
  lines: string[];
  /** The number of lines that are not included. */
  omitted: number;
}

/** The first or last lines of a text. */
export function excerpt(text: string, maxLines: number, { fromEnd = false } = {}): Excerpt {
  const lines = text.replace(/\n+$/, '').split('\n');
  const shown = fromEnd ? lines.slice(-maxLines) : lines.slice(0, maxLines);
  return {
    lines: shown.map((line) => (line.length > maxLineChars ? `${line.slice(0, maxLineChars)}…` : line)),
    omitted: lines.length - shown.length,
  };
}

/** Joins a text to one line of at most `width` columns. Line breaks become ⏎. */
export function oneLine(text: string, width: number): string {
  const flat = text
    .slice(0, maxLineChars)
    .replaceAll(/\s*\n\s*/g, ' ⏎ ')
    .trim();
  return truncateLine(flat, width);
}

/** Long runs of whitespace are replaced by a note, so that padding cannot push text out of sight. */
const gap = /[ \t]{40,}|\n{8,}/g;

export function markGaps(text: string): string {
  return text.replace(gap, (spaces) => ` ⟨${spaces.length} whitespace characters⟩ `);
}

export function hasGaps(text: string): boolean {
  return text.search(gap) !== -1;
}
