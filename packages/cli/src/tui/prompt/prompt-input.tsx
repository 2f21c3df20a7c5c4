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
}

/** The input field: several lines (Alt+Enter or Ctrl+J), history (up, down, Ctrl+R), completion (Tab). */
export function PromptInput({ prompt, completer, context, style, placeholder, width }: PromptInputProps) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useSyncExternalStore(
    (listener) => completer.onChange(listener),
    () => completer.current,
  );
  useInput((input, key) => {
    prompt.press(input, key, context);
    redraw();
  });
  const { state, list, selected, isSearching } = prompt;
  const text = promptText(state, isSearching ? 'Search earlier input' : placeholder, style);
  return (
    <Column>
      <Text>{`${style.accent('❯')} ${text}`}</Text>
      {list && list.candidates.length > 0 ? (
        <CandidateList candidates={list.candidates} selected={selected} style={style} width={width} />
      ) : null}
    </Column>
  );
}
