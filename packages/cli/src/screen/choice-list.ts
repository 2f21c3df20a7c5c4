import { lineWidth, padLine, truncateLine, wrapHanging } from '../render/lines.js';
import type { Style } from '../render/style.js';
import type { Key } from './keys.js';

/** One line of a list. Its text is sanitized. */
export interface Choice<T> {
  label: string;
  detail?: string;
  value: T;
}

export interface ChoiceLayout {
  style: Style;
  width: number;
  /** Available lines. */
  rows: number;
  /** The first nine have a digit that chooses them. */
  isNumbered: boolean;
  isScreenReader?: boolean;
}

/**
 * The lines of a list. Long texts are wrapped if everything fits and cut otherwise; of a list that is still too long,
 * the part around the selected line is shown.
 */
export function choiceLines(
  choices: readonly Omit<Choice<unknown>, 'value'>[],
  selected: number,
  layout: ChoiceLayout,
): string[] {
  const { width, rows, style } = layout;
  const labelWidth = Math.max(0, ...choices.map(({ label, detail }) => (detail ? lineWidth(label) : 0))) + 2;
  const whole = choices.map((choice, index) => lineOf(choice, index, index === selected, labelWidth, layout));
  // A long detail continues below its beginning.
  const column = labelWidth + (layout.isNumbered ? 5 : 2);
  const wrapped = whole.flatMap((line, index) => wrapHanging(line, width, choices[index]?.detail ? column : undefined));
  if (wrapped.length <= rows) return wrapped;
  const cut = whole.map((line) => truncateLine(line, width));
  if (cut.length <= rows) return cut;
  const room = Math.max(1, rows - 1);
  const from = Math.max(0, Math.min(selected - Math.floor(room / 2), cut.length - room));
  const more = `  … ${cut.length - room} more, the arrow keys show them`;
  return [...cut.slice(from, from + room), style.dim(truncateLine(more, width))].slice(0, Math.max(1, rows));
}

function lineOf(
  { label, detail = '' }: Omit<Choice<unknown>, 'value'>,
  index: number,
  isSelected: boolean,
  labelWidth: number,
  { style, isNumbered, isScreenReader = false }: ChoiceLayout,
): string {
  const number = isNumbered ? `${index < 9 ? index + 1 : ' '}  ` : '';
  const text = `${number}${detail === '' ? label : padLine(label, labelWidth)}`;
  if (isScreenReader) return `${isSelected ? 'selected: ' : ''}${text}${detail}`;
  return `${isSelected ? style.accent(`❯ ${text}`) : `  ${text}`}${style.dim(detail)}`;
}

/** Where the arrow keys move the selection; `undefined` for other keys. */
export function movedBy(key: Key, selected: number, count: number): number | undefined {
  if (key.upArrow) return (selected + count - 1) % count;
  if (key.downArrow) return (selected + 1) % count;
  return undefined;
}

/** The choice that a digit names. */
export function digitOf(input: string, count: number): number | undefined {
  const digit = /^[1-9]$/.test(input) ? Number(input) - 1 : -1;
  return digit >= 0 && digit < count ? digit : undefined;
}
