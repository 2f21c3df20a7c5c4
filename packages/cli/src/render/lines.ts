import { visibleText } from '@lathe/core';
import wrapAnsi from 'wrap-ansi';

/** Longer lines are cut where a card is not open: wrapping a megabyte must not hold up the screen. */
const maxLineChars = 2_000;

/** Text from outside, ready for the screen: nothing in it can move the cursor, and a tab is as wide as it looks. */
export function inert(text: string): string {
  return visibleText(text).replaceAll('\t', '    ');
}

/** Styled text as lines of at most `width` columns. Blanks are kept: what is shown is what there is. */
export function wrapLines(text: string, width: number): string[] {
  return wrapAnsi(text, Math.max(1, width), { hard: true, trim: false }).split('\n');
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
  const cut = (columns: number) => wrapAnsi(flat, Math.max(1, columns), { hard: true, trim: false, wordWrap: false });
  return cut(width).includes('\n') ? `${cut(width - 1).split('\n')[0] ?? ''}…` : flat;
}

/** Padding must not push anything out of sight: long stretches of blanks are told, not shown. */
const gap = /[ \t]{40,}|\n{8,}/g;

export function markGaps(text: string): string {
  return text.replace(gap, (blanks) => ` ⟨${blanks.length} blanks⟩ `);
}

export function hasGaps(text: string): boolean {
  return text.search(gap) !== -1;
}
