import { visibleText } from '@lathe/core';
import { Box, Text, useInput } from 'ink';
import type { Style } from '../render/style.js';
import { type Edit, edit, emptyEditor, isOnFirstLine, isOnLastLine } from './editor.js';
import { pasteMark } from './key-stream.js';
import { useLatest } from './use-latest.js';

export interface PromptInputProps {
  style: Style;
  placeholder: string;
  history: readonly string[];
  isActive: boolean;
  complete: (text: string) => string[];
  onSubmit: (text: string) => void;
}

/** Lines of a long text that are shown around the cursor. */
const maxLines = 10;

/** Where a person types: several lines (Alt+Enter or Ctrl+J), history (up, down), completion (Tab). */
export function PromptInput({ style, placeholder, history, isActive, complete, onSubmit }: PromptInputProps) {
  const editor = useLatest(emptyEditor);
  const place = useLatest(history.length);
  const candidates = () => {
    const { text } = editor.get();
    return isActive && text.length > 0 ? complete(text).slice(0, 6) : [];
  };

  const recall = (index: number) => {
    const text = history[index] ?? '';
    place.set(Math.max(0, Math.min(history.length, index)));
    editor.set({ text, cursor: text.length });
  };
  const enter = () => {
    const state = editor.get();
    if (state.text.endsWith('\\'))
      return editor.set(edit(edit(state, { type: 'backspace' }), { type: 'insert', text: '\n' }));
    if (state.text.trim() === '') return undefined;
    editor.set(emptyEditor);
    place.set(history.length + 1);
    return onSubmit(state.text);
  };
  const accept = (candidate: string | undefined) => {
    if (candidate !== undefined) editor.set({ text: candidate, cursor: candidate.length });
  };

  useInput(
    (input, key) => {
      if (key.return && !key.meta) return enter();
      if (key.tab && !key.shift) return accept(candidates()[0]);
      if (key.upArrow && isOnFirstLine(editor.get())) return recall(place.get() - 1);
      if (key.downArrow && isOnLastLine(editor.get())) return recall(place.get() + 1);
      const change = editOf(input, key);
      return change ? editor.set(edit(editor.get(), change)) : undefined;
    },
    { isActive },
  );

  const { text, cursor } = editor.get();
  const shown = text === '' ? cursorAt('', 0) + style.dim(placeholder) : window(text, cursor, style);
  const offered = candidates();
  return (
    <Box flexDirection="column">
      <Text>{`${style.accent('❯')} ${shown}`}</Text>
      {offered.length > 0 ? (
        <Text>{style.dim(`  ${offered.map((each) => visibleText(each)).join('   ')}`)}</Text>
      ) : null}
    </Box>
  );
}

type Key = Parameters<Parameters<typeof useInput>[0]>[1];

function editOf(input: string, key: Key): Edit | undefined {
  if (key.return || input === '\n') return { type: 'insert', text: '\n' };
  const move = moveOf(key);
  if (move) return move;
  // Terminals send the same byte for Backspace and Delete as often as not.
  if (key.backspace || key.delete) return { type: key.meta ? 'delete-word' : 'backspace' };
  if (key.ctrl) return controlEdits[input];
  if (key.meta || key.escape || key.tab || input === '') return undefined;
  return { type: 'insert', text: input.replace(pasteMark, '') };
}

function moveOf(key: Key): Edit | undefined {
  const isWord = key.ctrl || key.meta;
  if (key.leftArrow) return { type: isWord ? 'word-left' : 'left' };
  if (key.rightArrow) return { type: isWord ? 'word-right' : 'right' };
  if (key.upArrow) return { type: 'up' };
  return key.downArrow ? { type: 'down' } : undefined;
}

const controlEdits: Record<string, Edit> = {
  a: { type: 'home' },
  e: { type: 'end' },
  b: { type: 'left' },
  f: { type: 'right' },
  d: { type: 'delete' },
  w: { type: 'delete-word' },
  u: { type: 'delete-to-start' },
  k: { type: 'delete-to-end' },
  j: { type: 'insert', text: '\n' },
};

/** The lines around the cursor; a paste of ten thousand lines must not fill the screen. */
function window(text: string, cursor: number, style: Style): string {
  const withCursor = cursorAt(text, cursor);
  const lines = withCursor.split('\n');
  if (lines.length <= maxLines) return lines.join('\n  ');
  const at = text.slice(0, cursor).split('\n').length - 1;
  const from = Math.max(0, Math.min(at - maxLines + 2, lines.length - maxLines));
  const shown = lines.slice(from, from + maxLines);
  return [style.dim(`(${lines.length} lines)`), ...shown].join('\n  ');
}

function cursorAt(text: string, cursor: number): string {
  const [before, after] = [text.slice(0, cursor), text.slice(cursor)];
  return `${visibleText(before)}█${visibleText(after)}`;
}
