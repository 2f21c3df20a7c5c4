import { parseField, quoted } from '../../mcp/elicit.js';
import { sanitize, wrapLines } from '../../render/lines.js';
import type { ViewContext } from '../../render/view-context.js';
import { Column, Text } from '../../screen/elements.js';
import { pastedText } from '../../screen/key-stream.js';
import { useInput } from '../../screen/screen.js';
import { useLatest } from '../../screen/use-latest.js';
import { type EditorState, edit, emptyEditor } from '../prompt/editor.js';
import { editOf } from '../prompt/prompt-keys.js';
import { promptText } from '../prompt/prompt-text.js';
import type { PendingQuestion } from './question-queue.js';

export interface FieldViewProps {
  pending: Extract<PendingQuestion, { type: 'field' }>;
  context: ViewContext;
  /** Available lines. */
  rows: number;
}

interface Draft {
  text: EditorState;
  problem: string;
}

/** Asks for one field of a server's form. Lathe sends nothing until the person has approved the whole form. */
export function FieldView({ pending: { question, answer, cancel }, context, rows }: FieldViewProps) {
  const { server, message, field, step } = question;
  const draft = useLatest<Draft>({ text: emptyEditor, problem: '' });
  useInput((input, key) => {
    const { text } = draft.get();
    const change = asInsert(pastedText(input)) ?? editOf(input, key);
    if (key.escape || (key.ctrl && input === 'c')) cancel();
    else if (key.return && !key.meta && !key.shift) {
      const result = parseField(field, text.text);
      if ('value' in result) answer(result.value);
      else draft.set({ text, problem: result.problem });
    } else if (change) draft.set({ text: edit(text, change), problem: '' });
  });

  const { style } = context;
  const width = Math.max(8, context.width - (context.isScreenReader ? 0 : 4));
  const { text, problem } = draft.get();
  const placeholder = field.defaultValue === undefined ? '' : sanitize(String(field.defaultValue));
  const below = [
    ...wrapLines(sanitize(field.label), width),
    ...wrapLines(`${style.accent('❯')} ${promptText(text, placeholder, { style, width })}`, width),
    ...(problem === '' ? [] : wrapLines(style.warning(problem), width)),
    ...wrapLines(style.dim('Enter to continue, Esc to cancel. Nothing is sent until you have seen all of it.'), width),
  ];
  const above = [
    ...wrapLines(style.bold(sanitize(`The MCP server "${server}" asks (${step})`)), width),
    ...wrapLines(sanitize(quoted(message)), width),
  ];
  // The input at the end must stay visible; of a long message only the beginning is shown.
  const lines = [...above.slice(0, Math.max(2, rows - below.length - 2)), ...below].slice(2 - rows);
  if (context.isScreenReader) return <Text>{lines.join('\n')}</Text>;
  return (
    <Column frame={style.isPlain ? 'plain' : 'round'}>
      <Text>{lines.join('\n')}</Text>
    </Column>
  );
}

function asInsert(text: string | undefined) {
  return text === undefined ? undefined : { type: 'insert' as const, text };
}
