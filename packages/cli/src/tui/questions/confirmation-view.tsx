import { type Decision, visibleText } from '@lathe/core';
import { useMemo, useRef, useState } from 'react';
import { oneLine, wrapLines } from '../../render/lines.js';
import type { ViewContext } from '../../render/view-context.js';
import { Column, Text } from '../../screen/elements.js';
import { pasteMark } from '../../screen/key-stream.js';
import type { Key } from '../../screen/keys.js';
import { useInput } from '../../screen/screen.js';
import { useLatest } from '../../screen/use-latest.js';
import { type Option, optionsOf } from './confirmation-options.js';
import { type ConfirmationText, confirmationText } from './confirmation-text.js';
import type { Proposal } from './question-queue.js';

/** Keys pressed this soon after a question appears were meant for something else. */
const deafMs = 350;

export interface ConfirmationProps {
  request: Proposal;
  /** Whoever asks hears why not. */
  mayExplain: boolean;
  /** The settings of the project count. */
  isTrusted: boolean;
  waiting: number;
  context: ViewContext;
  /** Lines there is room for. */
  rows: number;
  answer: (decision: Decision) => void;
  /** Opens the proposed text in an editor; the answer follows. Missing when there is none to open. */
  modify?: (() => void) | undefined;
}

/** A question with its own input: nothing typed before it appeared can answer it, and Enter alone says no. */
export function Confirmation(props: ConfirmationProps) {
  const { request, mayExplain, isTrusted, waiting, context, rows, answer, modify } = props;
  const message = useLatest<string | undefined>(undefined);
  const inside = { ...context, width: Math.max(8, context.width - (context.isSpoken ? 0 : 4)) };
  const text = useMemo(() => confirmationText(request, inside), [request, inside.width]);
  const optionsFor = (mayAlways: boolean) =>
    optionsOf({
      request,
      answer,
      modify,
      mayAlways,
      isTrusted,
      explain: mayExplain ? () => message.set('') : undefined,
    });
  const { options, room } = layoutOf(text, optionsFor, inside, rows);
  const { choice, from } = useChoice({ options, room, length: text.body.length, message, answer });

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
    ...(waiting > 1 ? [style.dim(oneLine(`${waiting - 1} more to answer after this one`, inside.width))] : []),
    ...(written === undefined
      ? options.flatMap((option, index) => optionLines(option, index === choice, inside))
      : wrapLines(`No, because: ${visibleText(written)}█  ${style.dim('(Enter sends, Esc goes back)')}`, inside.width)),
  ];
  if (context.isSpoken) return <Text>{lines.join('\n')}</Text>;
  return (
    <Column frame={style.isPlain ? 'plain' : 'round'}>
      <Text>{lines.join('\n')}</Text>
    </Column>
  );
}

interface ChoiceInput {
  options: readonly Option[];
  /** Lines of the text that are shown, and how many it has. */
  room: number;
  length: number;
  message: ReturnType<typeof useLatest<string | undefined>>;
  answer: (decision: Decision) => void;
}

/** The keys of a question: which answer is chosen, and from which line on the text is shown. */
function useChoice({ options, room, length, message, answer }: ChoiceInput): { choice: number; from: number } {
  const shownAt = useRef(performance.now());
  const [selected, setSelected] = useState<number | undefined>();
  const [offset, setOffset] = useState(0);
  const last = options.length - 1;
  const choice = Math.min(selected ?? last, last);
  const end = Math.max(0, length - room);
  const from = Math.min(offset, end);

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
    else if (key.pageDown || key.rightArrow) setOffset(Math.min(end, from + room));
    else if (key.pageUp || key.leftArrow) setOffset(Math.max(0, from - room));
    else if (key.return) options[choice]?.decide();
    else options.find((option) => option.key === input)?.decide();
  };
  useInput((input, key) => {
    if (performance.now() - shownAt.current < deafMs) return;
    const written = message.get();
    if (written === undefined) choose(input, key);
    else writeMessage(written, input, key);
  });
  return { choice, from };
}

/** Lines of the body that must be in sight at once, or the longer answers give way. */
const leastBody = 3;

/** How many lines of the body fit, and which answers: "always" only where all that it is given for can be seen. */
function layoutOf(
  text: ConfirmationText,
  optionsFor: (mayAlways: boolean) => Option[],
  context: ViewContext,
  rows: number,
): { options: Option[]; room: number } {
  const height = (options: readonly Option[]) =>
    options.reduce((sum, option) => sum + optionLines(option, false, context).length, 0);
  // Two lines of frame, one for the position, one for how many wait.
  const taken = text.title.length + text.warnings.length + 4;
  const all = optionsFor(text.isPlain);
  const room = rows - taken - height(all);
  if (text.body.length <= room) return { options: all, room };
  const fewer = optionsFor(false);
  return { options: fewer, room: Math.max(leastBody, rows - taken - height(fewer)) };
}

function optionLines({ key, label }: Option, isChosen: boolean, { style, width, isSpoken }: ViewContext): string[] {
  const mark = isSpoken ? (isChosen ? 'chosen: ' : '') : `${isChosen ? style.accent('❯') : ' '} `;
  return wrapLines(`${mark}${style.bold(key)}  ${label}`, width);
}
