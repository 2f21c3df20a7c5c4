import { visibleText } from '@lathe/core/host';
import { useEffect } from 'react';
import type { Style } from '../render/style.js';
import { Column, Text } from '../screen/elements.js';
import { pastedText } from '../screen/key-stream.js';
import { useExit, useInput } from '../screen/screen.js';
import { type ShowOptions, show } from '../screen/show.js';
import { useLatest } from '../screen/use-latest.js';

/** One line of a menu. Its text is sanitized. */
export interface Choice<T> {
  label: string;
  detail?: string;
  value: T;
}

type MenuOptions = ShowOptions & { style: Style };

/** Lets the person choose with the arrow keys or a digit; `undefined` if they press Esc. */
export async function choose<T>(
  title: string,
  choices: readonly Choice<T>[],
  options: MenuOptions,
): Promise<T | undefined> {
  let chosen: T | undefined;
  const onDone = (index: number | undefined) => {
    chosen = index === undefined ? undefined : choices[index]?.value;
  };
  await show(<Menu title={title} choices={choices} style={options.style} onDone={onDone} />, options);
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

interface MenuProps {
  title: string;
  choices: readonly Choice<unknown>[];
  style: Style;
  onDone: (index: number | undefined) => void;
}

function Menu({ title, choices, style, onDone }: MenuProps) {
  const selected = useLatest(0);
  const done = useDone(onDone);
  useInput((input, key) => {
    const digit = Number(input);
    if (key.escape || (key.ctrl && (input === 'c' || input === 'd'))) done.finish(undefined);
    else if (key.upArrow) selected.set((selected.get() + choices.length - 1) % choices.length);
    else if (key.downArrow) selected.set((selected.get() + 1) % choices.length);
    else if (key.return) done.finish(selected.get());
    else if (digit >= 1 && digit <= choices.length) done.finish(digit - 1);
  });
  if (done.isDone) return null;
  const width = Math.max(...choices.map(({ label }) => label.length)) + 2;
  return (
    <Column>
      <Text>{title}</Text>
      {choices.map(({ label, detail = '' }, index) => {
        const isSelected = index === selected.get();
        const shown = `${index + 1}  ${detail === '' ? label : label.padEnd(width)}`;
        return (
          <Text key={label} isTruncated>
            {(isSelected ? style.accent(`❯ ${shown}`) : `  ${shown}`) + style.dim(detail)}
          </Text>
        );
      })}
      <Text>{style.dim('Arrow keys and Enter to choose, Esc to quit')}</Text>
    </Column>
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
  const done = useDone(onDone);
  useInput((input, key) => {
    if (key.escape || (key.ctrl && input === 'c')) done.finish(undefined);
    else if (key.return) done.finish(text.get().trim() || undefined);
    else if (key.backspace || key.delete) text.set(text.get().slice(0, -1));
    else if (!key.ctrl && !key.meta && !key.tab) text.set(text.get() + (pastedText(input) ?? input));
  });
  if (done.isDone) return null;
  return (
    <Column>
      <Text>{title}</Text>
      <Text>{`${style.accent('❯')} ${isSecret ? '•'.repeat(Math.min(60, text.get().length)) : visibleText(text.get())}█`}</Text>
      <Text>{style.dim('Enter to continue, Esc to quit')}</Text>
    </Column>
  );
}

/** Reports the answer, clears the screen and exits. */
function useDone<T>(onDone: (value: T) => void): { isDone: boolean; finish: (value: T) => void } {
  const exit = useExit();
  const isDone = useLatest(false);
  useEffect(() => {
    if (isDone.get()) exit();
  });
  const finish = (value: T) => {
    if (isDone.get()) return;
    onDone(value);
    isDone.set(true);
  };
  return { isDone: isDone.get(), finish };
}
