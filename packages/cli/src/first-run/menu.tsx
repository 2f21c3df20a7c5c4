import { visibleText } from '@lathe/core/host';
import type { Style } from '../render/style.js';
import type { Choice } from '../screen/choice-list.js';
import { Column, Text } from '../screen/elements.js';
import { pastedText } from '../screen/key-stream.js';
import { Picker, type PickerProps } from '../screen/picker.js';
import { useExit, useInput } from '../screen/screen.js';
import { type ShowOptions, show } from '../screen/show.js';
import { useLatest } from '../screen/use-latest.js';

export type MenuOptions = ShowOptions & { style: Style };

/** What a list takes besides its choices. */
type ListOptions<T> = Pick<PickerProps<T>, 'other' | 'escape'>;

/** Lets the person choose from a list; `undefined` if they press Esc. */
export async function choose<T>(
  title: string,
  choices: readonly Choice<T>[],
  options: MenuOptions,
  list: ListOptions<T> = {},
): Promise<T | undefined> {
  let chosen: T | undefined;
  const onDone = (value: T | undefined) => {
    chosen = value;
  };
  await show(<Menu title={title} choices={choices} options={options} list={list} onDone={onDone} />, options);
  return chosen;
}

interface LineOptions {
  /** It is not shown. */
  isSecret?: boolean;
  /** Enter alone is an answer too: an empty one. */
  isOptional?: boolean;
}

/** Reads a line; `undefined` if the person presses Esc. */
export async function askLine(title: string, options: MenuOptions & LineOptions): Promise<string | undefined> {
  let line: string | undefined;
  const onDone = (text: string | undefined) => {
    line = text;
  };
  const { style, isSecret = false, isOptional = false } = options;
  await show(<LineInput title={title} {...{ style, isSecret, isOptional, onDone }} />, options);
  return line;
}

interface MenuProps<T> {
  title: string;
  choices: readonly Choice<T>[];
  options: MenuOptions;
  list: ListOptions<T>;
  onDone: (value: T | undefined) => void;
}

function Menu<T>({ title, choices, options: { style, terminal, isScreenReader }, list, onDone }: MenuProps<T>) {
  const exit = useExit();
  const finish = (value: T | undefined) => {
    onDone(value);
    exit();
  };
  const size = { width: terminal.columns || 80, rows: (terminal.rows || 24) - 1 };
  return <Picker {...{ title, choices, style, isScreenReader }} {...list} {...size} onDone={finish} />;
}

interface LineInputProps extends Required<LineOptions> {
  title: string;
  style: Style;
  onDone: (text: string | undefined) => void;
}

function LineInput({ title, style, isSecret, isOptional, onDone }: LineInputProps) {
  const text = useLatest('');
  const exit = useExit();
  const finish = (value: string | undefined) => {
    onDone(value);
    exit();
  };
  useInput((input, key) => {
    if (key.escape || (key.ctrl && input === 'c')) finish(undefined);
    else if (key.return) {
      const line = text.get().trim();
      if (line !== '' || isOptional) finish(line);
    } else if (key.backspace || key.delete) text.set(text.get().slice(0, -1));
    else if (!key.ctrl && !key.meta && !key.tab) text.set(text.get() + (pastedText(input) ?? input));
  });
  return (
    <Column>
      <Text>{title}</Text>
      <Text>{`${style.accent('❯')} ${isSecret ? '•'.repeat(Math.min(60, text.get().length)) : visibleText(text.get())}█`}</Text>
      <Text>{style.dim('Enter to continue, Esc to go back')}</Text>
    </Column>
  );
}
