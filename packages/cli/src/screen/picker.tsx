import { lineWidth, wrapHanging } from '../render/lines.js';
import type { Style } from '../render/style.js';
import { type Choice, choiceLines, digitOf, movedBy } from './choice-list.js';
import { Text } from './elements.js';
import { pastedText } from './key-stream.js';
import type { Key } from './keys.js';
import { useInput } from './screen.js';
import { useLatest } from './use-latest.js';

export interface PickerProps<T> {
  /** Sanitized. */
  title: string;
  choices: readonly Choice<T>[];
  /** Selected at first. */
  initial?: number;
  /** Makes a value of a typed text that is no choice. */
  other?: (text: string) => T;
  style: Style;
  width: number;
  rows: number;
  isScreenReader?: boolean;
  /** `undefined` when the person pressed Esc. */
  onDone: (value: T | undefined) => void;
}

/** More choices than this are found by typing a part of them. */
const maxNumbered = 9;

/** A list to choose from: arrow keys and Enter, a digit, or, in a long list, a part of the text. */
export function Picker<T>({ title, choices, initial = 0, other, onDone, ...view }: PickerProps<T>) {
  const { style, width, rows, isScreenReader = false } = view;
  const isFiltered = choices.length > maxNumbered || other !== undefined;
  const state = useLatest<ListState>({ typed: '', selected: initial });
  const { typed } = state.get();
  const shown = matching(choices, typed);
  const selected = Math.min(state.get().selected, Math.max(0, shown.length - 1));

  useInput((input, key) => {
    const next = pressed(state.get(), input, key, { choices, other, isFiltered });
    if ('done' in next) onDone(next.done);
    else state.set(next);
  });

  const head = [
    ...wrapHanging(title, width),
    ...(isFiltered
      ? [`${style.accent('❯')} ${typed}█${typed === '' ? style.dim(filterHint(other !== undefined)) : ''}`]
      : []),
  ];
  const none = other ? `  Enter takes ${JSON.stringify(typed)}` : '  Nothing matches.';
  const layout = { style, width, isNumbered: !isFiltered, isScreenReader, rows: Math.max(1, rows - head.length - 1) };
  const list = shown.length === 0 ? [style.dim(none)] : choiceLines(shown, selected, layout);
  const hint = style.dim('Arrow keys and Enter to choose, Esc to go back');
  return <Text>{[...head, ...list, ...(lineWidth(hint) <= width ? [hint] : [])].join('\n')}</Text>;
}

interface ListState {
  typed: string;
  selected: number;
}

type ListRules<T> = Pick<PickerProps<T>, 'choices' | 'other'> & { isFiltered: boolean };

/** What a key does: another state, or the end with a choice. */
function pressed<T>(
  state: ListState,
  input: string,
  key: Key,
  { choices, other, isFiltered }: ListRules<T>,
): ListState | { done: T | undefined } {
  const list = matching(choices, state.typed);
  const selected = Math.min(state.selected, Math.max(0, list.length - 1));
  const moved = list.length > 0 ? movedBy(key, selected, list.length) : undefined;
  const digit = isFiltered ? undefined : digitOf(input, list.length);
  if (key.escape || (key.ctrl && (input === 'c' || input === 'd'))) return { done: undefined };
  if (moved !== undefined) return { ...state, selected: moved };
  if (digit !== undefined) return { done: list[digit]?.value };
  if (!key.return) return isFiltered ? { typed: typedAfter(state.typed, input, key), selected: 0 } : state;
  const [chosen, typed] = [list[selected], state.typed.trim()];
  if (chosen) return { done: chosen.value };
  return other && typed !== '' ? { done: other(typed) } : state;
}

function typedAfter(typed: string, input: string, key: Key): string {
  if (key.backspace) return typed.slice(0, -1);
  const text = (pastedText(input) ?? input).replaceAll('\n', ' ');
  return key.ctrl || key.meta || key.tab ? typed : typed + text;
}

const filterHint = (takesOther: boolean) => `type to search${takesOther ? ', or something else' : ''}`;

/** The choices with every typed word in their text. */
function matching<T>(choices: readonly Choice<T>[], typed: string): readonly Choice<T>[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return choices;
  return choices.filter(({ label, detail = '' }) => {
    const text = `${label} ${detail}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
