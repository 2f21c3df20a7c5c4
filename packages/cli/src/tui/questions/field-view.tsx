import { quoted, readField } from '../../mcp/elicit.js';
import { inert, wrapLines } from '../../render/lines.js';
import type { ViewContext } from '../../render/view-context.js';
import { Column, Text } from '../../screen/elements.js';
import { pastedText } from '../../screen/key-stream.js';
import { useInput } from '../../screen/screen.js';
import { useLatest } from '../../screen/use-latest.js';
import { type EditorState, edit, emptyEditor } from '../prompt/editor.js';
import { editOf } from '../prompt/prompt-keys.js';
import { promptText } from '../prompt/prompt-text.js';
import type { Waiting } from './question-queue.js';

export interface FieldViewProps {
  waiting: Extract<Waiting, { type: 'field' }>;
  context: ViewContext;
  /** Lines there is room for. */
  rows: number;
}

interface Draft {
  text: EditorState;
  problem: string;
}

/** One field of a form that a server wants filled in. What is typed here goes nowhere before the whole form was agreed to. */
export function FieldView({ waiting: { question, answer, cancel }, context, rows }: FieldViewProps) {
  const { server, message, field, step } = question;
  const draft = useLatest<Draft>({ text: emptyEditor, problem: '' });
  useInput((input, key) => {
    const { text } = draft.get();
    const change = asInsert(pastedText(input)) ?? editOf(input, key);
    if (key.escape || (key.ctrl && input === 'c')) cancel();
    else if (key.return && !key.meta && !key.shift) {
      const read = readField(field, text.text);
      if ('value' in read) answer(read.value);
      else draft.set({ text, problem: read.problem });
    } else if (change) draft.set({ text: edit(text, change), problem: '' });
  });

  const { style } = context;
  const width = Math.max(8, context.width - (context.isSpoken ? 0 : 4));
  const { text, problem } = draft.get();
  const usual = field.fallback === undefined ? '' : inert(String(field.fallback));
  const below = [
    ...wrapLines(inert(field.label), width),
    ...wrapLines(`${style.accent('❯')} ${promptText(text, usual, style)}`, width),
    ...(problem === '' ? [] : wrapLines(style.warning(problem), width)),
    ...wrapLines(style.dim('Enter goes on, Esc cancels. Nothing is sent before you have seen all of it.'), width),
  ];
  const above = [
    ...wrapLines(style.bold(inert(`The MCP server "${server}" asks (${step})`)), width),
    ...wrapLines(inert(quoted(message)), width),
  ];
  // The end is where one types; of a long message the beginning is enough.
  const lines = [...above.slice(0, Math.max(2, rows - below.length - 2)), ...below].slice(2 - rows);
  if (context.isSpoken) return <Text>{lines.join('\n')}</Text>;
  return (
    <Column frame={style.isPlain ? 'plain' : 'round'}>
      <Text>{lines.join('\n')}</Text>
    </Column>
  );
}

function asInsert(text: string | undefined) {
  return text === undefined ? undefined : { type: 'insert' as const, text };
}
