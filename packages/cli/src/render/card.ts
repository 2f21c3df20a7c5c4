import type { CallStatus, Display } from '@lathe/core';
import { countLines } from './diff.js';
import { type DisplaySize, renderDisplay, wholeDisplay } from './display.js';
import { lineWidth, oneLine, sanitize, wrapHanging } from './lines.js';
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
  /** The display is the message of an error. */
  hasThrown?: true;
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
  const paint = call.hasThrown ? context.style.failure : context.style.dim;
  const size: DisplaySize = isExpanded ? wholeDisplay : { maxLines, fromEnd: !hasEnded || showsEnd.has(call.name) };
  const body = renderDisplay(call.display, inside, { ...size, paint });
  const title = renderTitle(call, context, options);
  return body === '' ? title : `${title}\n${body.replace(/^/gm, '  ')}`;
}

/** True if the card shows less than with `isExpanded`. */
export function isTruncated(call: CallView, context: ViewContext): boolean {
  return renderCard(call, context) !== renderCard(call, context, { isExpanded: true });
}

/** Empty for a short time, and for a call of an earlier session, whose time is not known. */
function timeOf({ status, durationMs, startedAt }: CallView, now: number): string {
  const hasEnded = status === 'success' || status === 'error' || status === 'cancelled';
  const seconds = (durationMs ?? (hasEnded ? 0 : now - startedAt)) / 1000;
  return seconds < 1 ? '' : `${seconds.toFixed(1)} s`;
}

/** What the title says besides the name. It does not repeat the name, nor what is shown below it. */
function subjectOf({ name, description, display }: CallView, shownName: string): string {
  if (typeof display === 'object' && (display.type === 'todo_list' || display.type === 'plan_summary')) return '';
  // A call that was rejected before it was understood.
  if (description === name) return '';
  const text = name.includes('__') ? description.replace(' MCP Server) ', ') ') : description;
  const subject = text.startsWith(`${shownName} `) ? text.slice(shownName.length + 1) : text;
  if (typeof display !== 'object' || display.type !== 'file_diff') return subject;
  const { fileName, fileDiff, diffStat: stat } = display;
  const end = subject.indexOf(fileName) + fileName.length;
  // What a person changed in the proposal may take back a part of it, so the sum would be too large.
  const { added, removed } =
    stat.user_added_lines + stat.user_removed_lines > 0
      ? countLines(fileDiff)
      : { added: stat.model_added_lines, removed: stat.model_removed_lines };
  return `${subject.slice(0, end)} +${added} -${removed}`;
}

/** The title of a card: one line, or two on a narrow screen. */
export function renderTitle(
  call: CallView,
  context: ViewContext,
  { now = 0, isExpanded = false }: CardOptions,
): string {
  const { style, width, isScreenReader, toolName } = context;
  const { status } = call;
  const name = toolName(call.name);
  const paint = status === 'success' ? style.success : status === 'error' ? style.failure : style.accent;
  const mark = paint(isScreenReader ? `${words[status]}:` : marks[status]);
  const seconds = timeOf(call, now);
  const room = Math.max(8, 2 * width - name.length - seconds.length - 4);
  const subject = subjectOf(call, name);
  const description = isExpanded ? subject : oneLine(subject, room);
  const lines = wrapHanging(`${mark} ${style.bold(sanitize(name))} ${sanitize(description)}`.trimEnd(), width);
  if (seconds === '') return lines.join('\n');
  // The time is not broken apart.
  const isRoomy = lineWidth(lines.at(-1) ?? '') + 1 + seconds.length <= width;
  return `${lines.join('\n')}${isRoomy ? ' ' : '\n  '}${style.dim(seconds)}`;
}
