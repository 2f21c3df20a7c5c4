import { useReducer, useSyncExternalStore } from 'react';
import type { Completer } from '../../completion/completer.js';
import type { Style } from '../../render/style.js';
import { Column, Text } from '../../screen/elements.js';
import { useInput } from '../../screen/screen.js';
import { CandidateList } from './candidate-list.js';
import type { Prompt, PromptContext } from './prompt.js';
import { promptText } from './prompt-text.js';

export interface PromptInputProps {
  prompt: Prompt;
  completer: Completer;
  context: PromptContext;
  style: Style;
  placeholder: string;
  width: number;
  isScreenReader: boolean;
  /** Ctrl+G: opens the text in the person's editor; `undefined` if that failed. */
  editText: (text: string, name: string) => Promise<string | undefined>;
}

/** The input field: several lines (Alt+Enter or Ctrl+J), history (up, down, Ctrl+R), completion (Tab). */
export function PromptInput(props: PromptInputProps) {
  const { prompt, completer, context, style, placeholder, width, isScreenReader, editText } = props;
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useSyncExternalStore(
    (listener) => completer.onChange(listener),
    () => completer.current,
  );
  const openEditor = async () => {
    const text = await editText(prompt.wholeText, 'prompt.md');
    if (text !== undefined) prompt.replace(text.replace(/\n$/, ''), context);
    redraw();
  };
  useInput((input, key) => {
    if (key.ctrl && input === 'g') void openEditor();
    else prompt.press(input, key, context);
    redraw();
  });
  const { state, list, selected, isSearching } = prompt;
  const sign = isSearching ? 'search:' : '❯';
  const text = promptText(state, isSearching ? 'earlier input' : placeholder, {
    style,
    width,
    indent: sign.length + 1,
  });
  const line = <Text>{`${style.accent(sign)} ${text}`}</Text>;
  const frame = style.isPlain ? 'plain-rule' : 'rule';
  return (
    <Column>
      {isScreenReader ? (
        line
      ) : (
        <Column frame={frame} paint={style.dim}>
          {line}
        </Column>
      )}
      {list && list.candidates.length > 0 ? (
        <CandidateList candidates={list.candidates} selected={selected} style={style} width={width} />
      ) : null}
    </Column>
  );
}
