import type { ApprovalRequest, Decision, GrantScope } from '@lathe/core';
import { visibleText } from '@lathe/core';
import { Box, Text, useInput } from 'ink';
import { useRef, useState } from 'react';
import type { Style } from '../render/style.js';
import { confirmationText } from './confirmation-text.js';
import { pasteMark } from './key-stream.js';
import { useLatest } from './use-latest.js';

/** Keys pressed this soon after a question appears were meant for something else. */
const deafMs = 350;

type Key = Parameters<Parameters<typeof useInput>[0]>[1];

interface Option {
  key: string;
  label: string;
  decide: () => void;
}

export interface ConfirmationProps {
  request: ApprovalRequest;
  waiting: number;
  style: Style;
  height: number;
  answer: (decision: Decision) => void;
  /** Opens the proposed text in an editor; the answer follows. Missing when there is none to open. */
  modify?: (() => void) | undefined;
}

/** A question with its own input: nothing typed before it appeared can answer it, and Enter alone says no. */
export function Confirmation({ request, waiting, style, height, answer, modify }: ConfirmationProps) {
  const shownAt = useRef(performance.now());
  const message = useLatest<string | undefined>(undefined);
  const [selected, setSelected] = useState<number | undefined>();
  const [offset, setOffset] = useState(0);
  const text = confirmationText(request, style);
  const lines = text.body.split('\n');
  const room = Math.max(4, height - 14);
  const isWhole = lines.length <= room;
  const options = optionsOf({ request, answer, modify, mayAlways: text.isPlain && isWhole, setMessage: message.set });
  const last = options.length - 1;
  const choice = selected ?? last;

  const writeMessage = (written: string, input: string, key: Key) => {
    if (key.return) answer({ outcome: 'deny', ...(written !== '' && { message: written }) });
    else if (key.escape) message.set(undefined);
    else if (key.backspace || key.delete) message.set(written.slice(0, -1));
    else if (!key.ctrl && !key.meta) message.set(written + input.replace(pasteMark, ''));
  };
  const choose = (input: string, key: Key) => {
    if (key.escape) answer({ outcome: 'deny' });
    else if (key.upArrow) setSelected(Math.max(0, choice - 1));
    else if (key.downArrow) setSelected(Math.min(last, choice + 1));
    else if (key.pageDown) setOffset(Math.min(Math.max(0, lines.length - room), offset + room));
    else if (key.pageUp) setOffset(Math.max(0, offset - room));
    else if (key.return) options[choice]?.decide();
    else options.find((option) => option.key === input)?.decide();
  };
  useInput((input, key) => {
    if (performance.now() - shownAt.current < deafMs) return;
    const written = message.get();
    if (written === undefined) choose(input, key);
    else writeMessage(written, input, key);
  });

  const rest = lines.length - room;
  return (
    <Box flexDirection="column" borderStyle={style.isPlain ? 'classic' : 'round'} paddingX={1}>
      <Text>{style.bold(text.title) + (waiting > 1 ? style.dim(`  (1 of ${waiting})`) : '')}</Text>
      <Text>{lines.slice(offset, offset + room).join('\n')}</Text>
      {isWhole ? null : <Text>{style.dim(`… ${rest} more lines, PageUp and PageDown to see them`)}</Text>}
      {text.warnings.map((warning) => (
        <Text key={warning}>{style.warning(`! ${warning}`)}</Text>
      ))}
      {message.get() === undefined ? (
        options.map(({ key, label }, index) => (
          <Text key={key}>{`${index === choice ? style.accent('❯') : ' '} ${style.bold(key)}  ${label}`}</Text>
        ))
      ) : (
        <Text>{`No, because: ${visibleText(message.get() ?? '')}█  ${style.dim('(Enter sends, Esc goes back)')}`}</Text>
      )}
    </Box>
  );
}

function optionsOf({
  request,
  answer,
  modify,
  mayAlways,
  setMessage,
}: Pick<ConfirmationProps, 'request' | 'answer' | 'modify'> & {
  mayAlways: boolean;
  setMessage: (message: string) => void;
}): Option[] {
  const { choices = [], rules = [] } = request.confirmation;
  const always = (scope: GrantScope) => () => answer({ outcome: 'always', scope });
  const saved = rules.map((rule) => visibleText(rule)).join(', ');
  const yes: Option[] =
    choices.length > 0
      ? choices.map(({ id, label }, index) => ({
          key: String(index + 1),
          label: visibleText(label),
          decide: () => answer({ outcome: 'once', choice: id }),
        }))
      : [{ key: 'y', label: 'Yes, once', decide: () => answer({ outcome: 'once' }) }];
  return [
    ...yes,
    ...(mayAlways && rules.length > 0
      ? [
          { key: 's', label: `Yes, and always in this session: ${saved}`, decide: always('session') },
          { key: 'p', label: `Yes, and always in this project: ${saved}`, decide: always('project') },
          { key: 'u', label: `Yes, and always for me: ${saved}`, decide: always('user') },
        ]
      : []),
    ...(modify ? [{ key: 'e', label: 'Change it in an editor', decide: modify }] : []),
    { key: 'm', label: 'No, and say why', decide: () => setMessage('') },
    { key: 'n', label: 'No (Esc)', decide: () => answer({ outcome: 'deny' }) },
  ];
}
