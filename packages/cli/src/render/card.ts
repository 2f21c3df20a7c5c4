import type { CallStatus, Display } from '@lathe/core';
import { type DisplaySize, renderDisplay, wholeDisplay } from './display.js';
import { oneLine, sanitize, wrapLines } from './lines.js';
import type { ViewContext } from './view-context.js';

/** A tool call on the screen. All text is sanitized. */
export interface CallView {
  callId: string;
  name: string;
  description: string;
  status: CallStatus;
  startedAt: number;
  durationMs?: number;
  /** What the call shows while it runs or after it ended. */
  display?: Display;
  /** Why it failed. */
  error?: string;
}

/** Lines of output that a card shows before it says how many more there are. */
const cardLines = 8;

/** For these tools the last lines of the output matter most. */
const showsEnd: ReadonlySet<string> = new Set(['run_shell_command']);

const marks = {
  validating: '○',
  awaiting_approval: '?',
  scheduled: '○',
  executing: '●',
  success: '✓',
  error: '✗',
  cancelled: '–',
} as const;

const words = {
  validating: 'checking',
  awaiting_approval: 'asking',
  scheduled: 'waiting',
  executing: 'running',
  success: 'done',
  error: 'failed',
  cancelled: 'cancelled',
} as const;

export interface CardOptions {
  /** For the elapsed time of a running call. */
  now?: number;
  /** Shows the full output. */
  isExpanded?: boolean;
  maxLines?: number;
}

/** Renders a tool call: status, name, description, time, and the relevant part of its output. */
export function renderCard(call: CallView, context: ViewContext, options: CardOptions = {}): string {
  const { isExpanded = false, maxLines = cardLines } = options;
  const hasEnded = call.durationMs !== undefined;
  const inside = { ...context, width: Math.max(8, context.width - 2) };
  const size: DisplaySize = isExpanded ? wholeDisplay : { maxLines, fromEnd: !hasEnded || showsEnd.has(call.name) };
  const body =
    call.error === undefined
      ? renderDisplay(call.display, inside, size)
      : wrapLines(context.style.failure(sanitize(call.error)), inside.width).join('\n');
  const title = renderTitle(call, context, options);
  return body === '' ? title : `${title}\n${body.replace(/^/gm, '  ')}`;
}

/** True if the card shows less than with `isExpanded`. */
export function isTruncated(call: CallView, context: ViewContext): boolean {
  return renderCard(call, context) !== renderCard(call, context, { isExpanded: true });
}

/** The title of a card: one line, or two on a narrow screen. */
export function renderTitle(
  call: CallView,
  context: ViewContext,
  { now = 0, isExpanded = false }: CardOptions,
): string {
  const { style, width, isScreenReader } = context;
  const { status } = call;
  const paint = status === 'success' ? style.success : status === 'error' ? style.failure : style.accent;
  const mark = paint(isScreenReader ? `${words[status]}:` : marks[status]);
  const seconds = `${((call.durationMs ?? Math.max(0, now - call.startedAt)) / 1000).toFixed(1)} s`;
  const room = Math.max(8, 2 * width - call.name.length - seconds.length - 4);
  const description = isExpanded ? call.description : oneLine(call.description, room);
  return wrapLines(
    `${mark} ${style.bold(sanitize(call.name))} ${sanitize(description)} ${style.dim(seconds)}`,
    width,
  ).join('\n');
}
