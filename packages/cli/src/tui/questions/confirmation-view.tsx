import { type Decision } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import { useMemo, useRef, useState } from 'react';
import { oneLine, wrapLines } from '../../render/lines.js';
import type { ViewContext } from '../../render/view-context.js';
import { Column, Text } from '../../screen/elements.js';
import { pastePrefix } from '../../screen/key-stream.js';
import type { Key } from '../../screen/keys.js';
import { useInput } from '../../screen/screen.js';
import { useLatest } from '../../screen/use-latest.js';
import { isToolQuestion, type Option, optionsOf } from './confirmation-options.js';
import { type ConfirmationText, confirmationText } from './confirmation-text.js';
import type { Proposal } from './question-queue.js';

/** Keys pressed this soon after a question appears were not meant for it. */
const ignoreKeysMs = 350;

export interface ConfirmationProps {
  request: Proposal;
  /** A reason for a no reaches the model. */
  canExplain: boolean;
  isTrusted: boolean;
  pendingCount: number;
  context: ViewContext;
  /** Available lines. */
  rows: number;
  answer: (decision: Decision) => void;
  modify?: (() => void) | undefined;
}

/** A question with its own input. Keys typed before it appeared cannot answer it, and Enter alone means no. */
export function Confirmation(props: ConfirmationProps) {
  const { request, canExplain, isTrusted, pendingCount, context, rows, answer, modify } = props;
  const message = useLatest<string | undefined>(undefined);
  const inside = { ...context, width: Math.max(8, context.width - (context.isScreenReader ? 0 : 4)) };
  const text = useMemo(() => confirmationText(request, inside), [request, inside.width]);
  const optionsFor = (offersAlways: boolean) =>
    optionsOf({
      request,
      answer,
      modify,
      offersAlways,
      isTrusted,
      explain: canExplain ? () => message.set('') : undefined,
    });
  const { options, room } = layoutOf(text, optionsFor, inside, rows);
  const { selected, from } = useChoice({ options, room, length: text.body.length, message, answer });

  const { style } = context;
  const to = Math.min(text.body.length, from + room);
  const written = message.get();
  const lines = [
    ...text.title,
    ...text.body.slice(from, to),
    ...(to - from < text.body.length
      ? [style.dim(oneLine(`${from + 1}–${to} of ${text.body.length} lines, PageDown and PageUp`, inside.width))]
      : []),
    ...text.warnings,
    ...(pendingCount > 1
      ? [style.dim(oneLine(`${pendingCount - 1} more to answer after this one`, inside.width))]
      : []),
    ...(written === undefined
      ? options.flatMap((option, index) => optionLines(option, index === selected, inside))
      : wrapLines(
          `${isToolQuestion(request) ? 'Answer' : 'No, because'}: ${visibleText(written)}█  ${style.dim('(Enter to send, Esc to go back)')}`,
          inside.width,
        )),
  ];
  if (context.isScreenReader) return <Text>{lines.join('\n')}</Text>;
  return (
    <Column frame={style.isPlain ? 'plain' : 'round'}>
      <Text>{lines.join('\n')}</Text>
    </Column>
  );
}

interface ChoiceInput {
  options: readonly Option[];
  /** Visible lines of the text. */
  room: number;
  /** All lines of the text. */
  length: number;
  message: ReturnType<typeof useLatest<string | undefined>>;
  answer: (decision: Decision) => void;
}

/** Handles the keys of a question: selects an answer and scrolls the text. */
function useChoice({ options, room, length, message, answer }: ChoiceInput): { selected: number; from: number } {
  const shownAt = useRef(performance.now());
  const [moved, setMoved] = useState<number | undefined>();
  const [offset, setOffset] = useState(0);
  const last = options.length - 1;
  const selected = Math.min(moved ?? last, last);
  const end = Math.max(0, length - room);
  const from = Math.min(offset, end);

  const writeMessage = (written: string, input: string, key: Key) => {
    if (key.return) answer({ outcome: 'deny', ...(written !== '' && { message: written }) });
    else if (key.escape) message.set(undefined);
    else if (key.backspace || key.delete) message.set(written.slice(0, -1));
    else if (!key.ctrl && !key.meta) message.set(written + input.replace(pastePrefix, ''));
  };
  const choose = (input: string, key: Key) => {
    if (key.escape) answer({ outcome: 'deny' });
    else if (key.upArrow) setMoved(Math.max(0, selected - 1));
    else if (key.downArrow) setMoved(Math.min(last, selected + 1));
    else if (key.pageDown || key.rightArrow) setOffset(Math.min(end, from + room));
    else if (key.pageUp || key.leftArrow) setOffset(Math.max(0, from - room));
    else if (key.return) options[selected]?.decide();
    else options.find((option) => option.key === input)?.decide();
  };
  useInput((input, key) => {
    if (performance.now() - shownAt.current < ignoreKeysMs) return;
    const written = message.get();
    if (written === undefined) choose(input, key);
    else writeMessage(written, input, key);
  });
  return { selected, from };
}

/** At least this many lines of the body are visible. */
const minBodyLines = 3;

/** How many lines of the body fit, and which answers to offer: "always" only if the whole body is visible. */
function layoutOf(
  text: ConfirmationText,
  optionsFor: (offersAlways: boolean) => Option[],
  context: ViewContext,
  rows: number,
): { options: Option[]; room: number } {
  const height = (options: readonly Option[]) =>
    options.reduce((sum, option) => sum + optionLines(option, false, context).length, 0);
  // Two lines for the frame, one for the scroll position, one for the number of pending questions.
  const taken = text.title.length + text.warnings.length + 4;
  const all = optionsFor(text.isPlain);
  const room = rows - taken - height(all);
  if (text.body.length <= room) return { options: all, room };
  const fewer = optionsFor(false);
  return { options: fewer, room: Math.max(minBodyLines, rows - taken - height(fewer)) };
}

function optionLines(
  { key, label }: Option,
  isSelected: boolean,
  { style, width, isScreenReader }: ViewContext,
): string[] {
  const mark = isScreenReader ? (isSelected ? 'selected: ' : '') : `${isSelected ? style.accent('❯') : ' '} `;
  return wrapLines(`${mark}${style.bold(key)}  ${label}`, width);
}
