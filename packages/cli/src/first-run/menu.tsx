import { visibleText } from '@lathe/core/host';
import type { Style } from '../render/style.js';
import type { Choice } from '../screen/choice-list.js';
import { Column, Text } from '../screen/elements.js';
import { pastedText } from '../screen/key-stream.js';
import { Picker } from '../screen/picker.js';
import { useExit, useInput } from '../screen/screen.js';
import { type ShowOptions, show } from '../screen/show.js';
import { useLatest } from '../screen/use-latest.js';

export type MenuOptions = ShowOptions & { style: Style };

/** Lets the person choose from a list; `undefined` if they press Esc. */
export async function choose<T>(
  title: string,
  choices: readonly Choice<T>[],
  options: MenuOptions,
): Promise<T | undefined> {
  let chosen: T | undefined;
  const onDone = (value: T | undefined) => {
    chosen = value;
  };
  await show(<Menu title={title} choices={choices} options={options} onDone={onDone} />, options);
  return chosen;
}

/** Reads a line; `undefined` if the person presses Esc or enters nothing. A secret is not shown. */
export async function askLine(
  title: string,
  options: MenuOptions & { isSecret?: boolean },
): Promise<string | undefined> {
  let line: string | undefined;
  const onDone = (text: string | undefined) => {
    line = text;
  };
  const { style, isSecret = false } = options;
  await show(<LineInput title={title} style={style} isSecret={isSecret} onDone={onDone} />, options);
  return line;
}

interface MenuProps<T> {
  title: string;
  choices: readonly Choice<T>[];
  options: MenuOptions;
  onDone: (value: T | undefined) => void;
}

function Menu<T>({ title, choices, options: { style, terminal, isScreenReader }, onDone }: MenuProps<T>) {
  const exit = useExit();
  const finish = (value: T | undefined) => {
    onDone(value);
    exit();
  };
  const size = { width: terminal.columns || 80, rows: (terminal.rows || 24) - 1 };
  return (
    <Picker title={title} choices={choices} style={style} {...size} isScreenReader={isScreenReader} onDone={finish} />
  );
}

interface LineInputProps {
  title: string;
  isSecret: boolean;
  style: Style;
  onDone: (text: string | undefined) => void;
}

function LineInput({ title, style, isSecret, onDone }: LineInputProps) {
  const text = useLatest('');
  const exit = useExit();
  const finish = (value: string | undefined) => {
    onDone(value);
    exit();
  };
  useInput((input, key) => {
    if (key.escape || (key.ctrl && input === 'c')) finish(undefined);
    else if (key.return) finish(text.get().trim() || undefined);
    else if (key.backspace || key.delete) text.set(text.get().slice(0, -1));
    else if (!key.ctrl && !key.meta && !key.tab) text.set(text.get() + (pastedText(input) ?? input));
  });
  return (
    <Column>
      <Text>{title}</Text>
      <Text>{`${style.accent('❯')} ${isSecret ? '•'.repeat(Math.min(60, text.get().length)) : visibleText(text.get())}█`}</Text>
      <Text>{style.dim('Enter to continue, Esc to quit')}</Text>
    </Column>
  );
}
