import { lineWidth, wrapHanging } from '../render/lines.js';
import type { Style } from '../render/style.js';
import { type Choice, choiceLines, digitOf, movedBy } from './choice-list.js';
import { Text } from './elements.js';
import { pastedText } from './key-stream.js';
import type { Key } from './keys.js';
import { type EarlyKey, useAnswerKeys } from './use-answer-keys.js';
import { useLatest } from './use-latest.js';

export interface PickerProps<T> {
  /** Sanitized. */
  title: string;
  choices: readonly Choice<T>[];
  /** Selected at first. */
  initial?: number;
  /** Makes a value of a typed text, which is then offered above the choices. */
  other?: (text: string) => T;
  style: Style;
  width: number;
  rows: number;
  isScreenReader?: boolean;
  onEarlyKey?: EarlyKey;
  /** What Esc does. */
  escape?: string;
  /** `undefined` when the person pressed Esc. */
  onDone: (value: T | undefined) => void;
}

/** Of more choices than this, the person types a part. */
const maxNumbered = 9;

/** A list to choose from: arrow keys and Enter, a digit, or a part of the text. */
export function Picker<T>({
  title,
  choices,
  initial = 0,
  other,
  onDone,
  onEarlyKey,
  escape = 'Esc to go back',
  ...view
}: PickerProps<T>) {
  const { style, width, rows, isScreenReader = false } = view;
  const state = useLatest<ListState>({ typed: '', selected: initial });
  const { typed, selected } = state.get();
  const isTyped = choices.length > maxNumbered || other !== undefined;
  const list = offered(choices, other, typed);
  useAnswerKeys((input, key) => {
    const now = state.get();
    const next = pressed(now, input, key, { list: offered(choices, other, now.typed), isTyped });
    if ('done' in next) onDone(next.done);
    else state.set(next);
  }, onEarlyKey);

  // Beside choices, the line for free text is the first of the list.
  const hasField = isTyped && (choices.length === 0 || !other);
  const field = fieldLine(typed, choices.length === 0 ? 'Type your answer' : 'Type to search', style);
  const head = [...wrapHanging(style.bold(title), width), ...(hasField ? [field] : [])];
  const isNumbered = choices.length <= maxNumbered && typed === '';
  const layout = { style, width, isNumbered, isScreenReader, rows: Math.max(1, rows - head.length - 1) };
  const lines = list.length === 0 && typed !== '' ? [style.dim('  Nothing matches.')] : [];
  const keys = waysToAnswer(choices.length, other !== undefined, escape).find((text) => lineWidth(text) <= width);
  const rest = choices.length === 0 ? [] : choiceLines(list, Math.min(selected, list.length - 1), layout);
  const shown = [...head, ...lines, ...rest];
  return <Text>{[...shown, ...(keys === undefined ? [] : [style.dim(keys)])].join('\n')}</Text>;
}

function fieldLine(typed: string, hint: string, style: Style): string {
  return `  ${typed}█${typed === '' ? style.dim(hint) : ''}`;
}

/** The longest first. */
function waysToAnswer(count: number, takesText: boolean, escape: string): string[] {
  if (count === 0) return [`Enter to answer, ${escape}`];
  if (!takesText) return [`Arrow keys and Enter to choose, ${escape}`];
  const typing = ', or type an answer';
  return [
    `Arrow keys and Enter to choose${typing}, ${escape}`,
    `Enter to choose${typing}, ${escape}`,
    `Enter${typing}`,
  ];
}

interface ListState {
  typed: string;
  selected: number;
}

/** What a key does: another state, or the end with a choice. */
function pressed<T>(
  state: ListState,
  input: string,
  key: Key,
  { list, isTyped }: { list: readonly Choice<T>[]; isTyped: boolean },
): ListState | { done: T | undefined } {
  const selected = Math.min(state.selected, list.length - 1);
  const moved = list.length > 0 ? movedBy(key, selected, list.length) : undefined;
  const digit = state.typed === '' && list.length <= maxNumbered ? digitOf(input, list.length) : undefined;
  const chosen = list[digit ?? selected];
  if (key.escape || (key.ctrl && /^[cd]$/.test(input))) return { done: undefined };
  if (moved !== undefined) return { ...state, selected: moved };
  if (digit !== undefined || key.return) return chosen ? { done: chosen.value } : state;
  return isTyped ? { typed: typedAfter(state.typed, input, key), selected: 0 } : state;
}

function typedAfter(typed: string, input: string, key: Key): string {
  if (key.backspace) return typed.slice(0, -1);
  const text = (pastedText(input) ?? input).replaceAll('\n', ' ');
  return key.ctrl || key.meta || key.tab ? typed : typed + text;
}

/** The typed text itself where that is an answer, then the choices with every typed word in them. */
function offered<T>(
  choices: readonly Choice<T>[],
  other: PickerProps<T>['other'] | undefined,
  typed: string,
): readonly Choice<T>[] {
  const text = typed.trim();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = choices.filter(({ label, detail = '' }) => {
    const whole = `${label} ${detail}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
  return other && text !== '' ? [{ label: `${typed}█`, value: other(text) }, ...found] : found;
}
