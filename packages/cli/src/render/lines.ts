import { visibleText } from '@lathe/core/host';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** Longer lines are cut where a card is not open: wrapping a megabyte must not hold up the screen. */
const maxLineChars = 2_000;

/** Text from outside, ready for the screen: nothing in it can move the cursor, and a tab is as wide as it looks. */
export function inert(text: string): string {
  return visibleText(text).replaceAll('\t', '    ');
}

/** Characters that take one column each, which most text consists of; to measure others takes a while. */
const simple =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0400-\u0482\u2010-\u2027\u2030-\u205e\u2190-\u2193\u2500-\u25ab✓✗❯☐☑●○▶⏎]*$/;
// oxlint-disable-next-line no-control-regex -- our own colours
const colours = /\u001b\[[\d;]*m/g;

/** How many columns a styled line takes. */
export function lineWidth(line: string): number {
  const text = line.replace(colours, '');
  return simple.test(text) ? text.length : stringWidth(text);
}

/** Styled text as lines of at most `width` columns. Blanks are kept: what is shown is what there is. */
export function wrapLines(text: string, width: number): string[] {
  const lines = text.split('\n');
  // Colours that go on over the end of a line have to end and begin again there.
  const isApart = lines.length === 1 || !text.includes('\u001b');
  if (isApart && lines.every((line) => lineWidth(line) <= width)) return lines;
  return wrapAnsi(text, Math.max(1, width), { hard: true, trim: false }).split('\n');
}

/** A styled line of at most `width` columns: what does not fit is left out at its end. */
export function cutLine(line: string, width: number): string {
  if (lineWidth(line) <= width) return line;
  const [start = ''] = wrapAnsi(line, Math.max(1, width - 1), { hard: true, trim: false, wordWrap: false }).split('\n');
  return `${start}…`;
}

/** The end of a plain line, in at most `width` columns. */
export function cutStart(line: string, width: number): string {
  if (lineWidth(line) <= width) return line;
  const characters = Array.from(new Intl.Segmenter().segment(line), ({ segment }) => segment);
  let shown = '';
  for (let next = characters.pop(); next !== undefined && lineWidth(next + shown) < width; next = characters.pop())
    shown = next + shown;
  return `…${shown}`;
}

/** A styled line with blanks behind it, `width` columns in all. */
export function padLine(line: string, width: number): string {
  return line + ' '.repeat(Math.max(0, width - lineWidth(line)));
}

export interface Excerpt {
  lines: string[];
  /** How many lines were left out. */
  left: number;
}

/** The first or last lines of a raw text, without looking at the rest of it more than once. */
export function excerpt(text: string, maxLines: number, { fromEnd = false } = {}): Excerpt {
  const lines = text.replace(/\n+$/, '').split('\n');
  const shown = fromEnd ? lines.slice(-maxLines) : lines.slice(0, maxLines);
  return {
    lines: shown.map((line) => (line.length > maxLineChars ? `${line.slice(0, maxLineChars)}…` : line)),
    left: lines.length - shown.length,
  };
}

/** One line of at most `width` columns, for a title: line ends become signs, and what is too long ends in an ellipsis. */
export function oneLine(text: string, width: number): string {
  const flat = text
    .slice(0, maxLineChars)
    .replaceAll(/\s*\n\s*/g, ' ⏎ ')
    .trim();
  return cutLine(flat, width);
}

/** Padding must not push anything out of sight: long stretches of blanks are told, not shown. */
const gap = /[ \t]{40,}|\n{8,}/g;

export function markGaps(text: string): string {
  return text.replace(gap, (blanks) => ` ⟨${blanks.length} blanks⟩ `);
}

export function hasGaps(text: string): boolean {
  return text.search(gap) !== -1;
}
