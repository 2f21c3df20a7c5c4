import { type Decision } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import { useMemo, useState } from 'react';
import { isToolQuestion, type Proposal } from '../../drivers/approval-answers.js';
import { oneLine, wrapLines } from '../../render/lines.js';
import type { ViewContext } from '../../render/view-context.js';
import { choiceLines, digitOf, movedBy } from '../../screen/choice-list.js';
import { Column, Text } from '../../screen/elements.js';
import { pastePrefix } from '../../screen/key-stream.js';
import type { Key } from '../../screen/keys.js';
import { type EarlyKey, useAnswerKeys } from '../../screen/use-answer-keys.js';
import { useLatest } from '../../screen/use-latest.js';
import { type Option, optionsOf } from './confirmation-options.js';
import { type ConfirmationText, confirmationText } from './confirmation-text.js';

export interface ConfirmationProps {
  request: Proposal;
  /** A reason for a no reaches the model. */
  canExplain: boolean;
  pendingCount: number;
  context: ViewContext;
  /** Available lines. */
  rows: number;
  answer: (decision: Decision) => void;
  modify?: (() => void) | undefined;
  onEarlyKey: EarlyKey;
}

/** A question with its own input. Keys typed before it appeared cannot answer it. */
export function Confirmation(props: ConfirmationProps) {
  const { request, canExplain, pendingCount, context, rows, answer, modify } = props;
  const message = useLatest<string | undefined>(undefined);
  const inside = { ...context, width: Math.max(8, context.width - (context.isScreenReader ? 0 : 4)) };
  const text = useMemo(() => confirmationText(request, inside), [request, inside.width]);
  const options = optionsOf({
    request,
    answer,
    modify,
    offersAlways: text.isPlain,
    explain: canExplain ? () => message.set('') : undefined,
  });
  // Enter says yes, unless no rule could say it or the text tries to hide something.
  const initial = request.isGuarded || !text.isPlain ? options.length - 1 : 0;
  const layout = layoutOf(text, options, inside, pendingCount > 1 ? rows - 1 : rows);
  const { selected, from, note } = useChoice({ options, initial, ...layout, message, ...props });

  const { style } = context;
  const { scrolled, room, optionRows } = layout;
  const to = Math.min(scrolled.length, from + room);
  const written = message.get();
  const position = note === '' ? style.dim(positionOf({ from, to, count: scrolled.length })) : style.warning(note);
  const lines = [
    ...text.title,
    ...scrolled.slice(from, to),
    ...(to - from < scrolled.length ? [oneLine(position, inside.width)] : []),
    ...layout.fixed,
    ...(pendingCount > 1
      ? [style.dim(oneLine(`${pendingCount - 1} more to answer after this one`, inside.width))]
      : []),
    ...(layout.hasGap ? [''] : []),
    ...(written === undefined
      ? choiceLines(options.map(labelled), selected, { ...inside, rows: optionRows, isNumbered: true })
      : wrapLines(
          `${isToolQuestion(request) ? 'Answer' : 'No, because'}: ${visibleText(written)}█  ${style.dim('(Enter to send, Esc to go back)')}`,
          inside.width,
        )),
  ];
  if (context.isScreenReader) return <Text>{lines.join('\n')}</Text>;
  return (
    <Column frame={style.isPlain ? 'plain' : 'round'} paint={style.accent}>
      <Text>{lines.join('\n')}</Text>
    </Column>
  );
}

const labelled = ({ key, label }: Option) => ({ label: key === '' ? label : `${label} (${key})` });

interface ChoiceInput extends Layout {
  options: readonly Option[];
  initial: number;
  message: ReturnType<typeof useLatest<string | undefined>>;
  answer: (decision: Decision) => void;
  onEarlyKey: EarlyKey;
}

/** Handles the keys of a question: selects an answer and scrolls the text. */
function useChoice(input: ChoiceInput): { selected: number; from: number; note: string } {
  const { options, initial, room, scrolled, message, answer, onEarlyKey } = input;
  const [moved, setMoved] = useState<number | undefined>();
  const [offset, setOffset] = useState(0);
  const [note, setNote] = useState('');
  const selected = Math.min(moved ?? initial, options.length - 1);
  const end = Math.max(0, scrolled.length - room);
  const from = Math.min(offset, end);

  const take = (option: Option | undefined) => {
    if (!option?.isLasting || from >= end) return option?.decide();
    setOffset(end);
    return setNote('This is the end of the text. Press again if it should always be allowed.');
  };
  const writeMessage = (written: string, typed: string, key: Key) => {
    if (key.return) answer({ outcome: 'deny', ...(written !== '' && { message: written }) });
    else if (key.escape) message.set(undefined);
    else if (key.backspace || key.delete) message.set(written.slice(0, -1));
    else if (!key.ctrl && !key.meta) message.set(written + typed.replace(pastePrefix, ''));
  };
  const choose = (typed: string, key: Key) => {
    const step = movedBy(key, selected, options.length);
    const digit = digitOf(typed, options.length);
    const scrolledTo = scrolledBy(key, { from, room, end });
    if (key.escape) answer({ outcome: 'deny' });
    else if (step !== undefined) setMoved(step);
    else if (scrolledTo !== undefined) setOffset(scrolledTo);
    else if (key.return) take(options[selected]);
    else if (digit !== undefined) take(options[digit]);
    else if (typed !== '' && !key.ctrl && !key.meta) take(options.find((option) => option.key === typed));
  };
  const listen: EarlyKey = (typed, key) => {
    const written = message.get();
    if (written === undefined) choose(typed, key);
    else writeMessage(written, typed, key);
  };
  useAnswerKeys(listen, onEarlyKey, { takesText: message.get() !== undefined });
  return { selected, from, note };
}

function positionOf({ from, to, count }: Record<'from' | 'to' | 'count', number>): string {
  return `${from + 1}–${to} of ${count} lines, PageDown and PageUp`;
}

/** Where a key moves the text to; `undefined` for other keys. */
function scrolledBy(key: Key, { from, room, end }: Record<'from' | 'room' | 'end', number>): number | undefined {
  if (key.pageDown || key.rightArrow) return Math.min(end, from + room);
  if (key.pageUp || key.leftArrow) return Math.max(0, from - room);
  if (key.end) return end;
  return key.home ? 0 : undefined;
}

/** At least this many lines of the text are visible. */
const minLines = 3;

interface Layout {
  /** The lines that PageDown and PageUp move through. */
  scrolled: readonly string[];
  /** How many of them are visible. */
  room: number;
  /** The lines below them. */
  fixed: readonly string[];
  optionRows: number;
  /** An empty line above the answers. */
  hasGap?: true;
}

/** All answers stay on the screen: the text scrolls, and on a small screen the warnings scroll with it. */
function layoutOf(text: ConfirmationText, options: readonly Option[], context: ViewContext, rows: number): Layout {
  const { body, warnings, spelling, title } = text;
  const fixed = [...warnings, ...spelling];
  const height = (limit: number) =>
    choiceLines(options.map(labelled), 0, { ...context, rows: limit, isNumbered: true }).length;
  // Two lines for the frame, one for the scroll position or a note.
  const left = rows - title.length - 3;
  const whole = height(Number.POSITIVE_INFINITY);
  const wanted = Math.min(minLines, body.length);
  const roomy = left - fixed.length - whole - 1;
  if (roomy >= body.length && !context.isScreenReader)
    return { scrolled: body, fixed, room: roomy, optionRows: whole, hasGap: true };
  if (left - fixed.length - whole >= wanted)
    return { scrolled: body, fixed, room: left - fixed.length - whole, optionRows: whole };
  const optionRows = Math.max(1, Math.min(options.length, left - wanted));
  if (left - fixed.length - optionRows >= wanted)
    return { scrolled: body, fixed, room: left - fixed.length - optionRows, optionRows };
  const scrolled = [...warnings, ...body, ...spelling];
  return { scrolled, fixed: [], room: Math.max(1, left - optionRows), optionRows };
}
