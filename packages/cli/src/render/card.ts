import type { CallView } from '../tui/screen-state.js';
import { type DisplaySize, renderDisplay, wholeDisplay } from './display.js';
import { inert, oneLine, wrapLines } from './lines.js';
import type { ViewContext } from './view-context.js';

/** Lines of output that a card shows before it says how many more there are. */
const cardLines = 8;

/** The last lines of a command say how it went. */
const endsMatter: ReadonlySet<string> = new Set(['run_shell_command']);

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
  /** For the elapsed time of a call that still runs. */
  now?: number;
  /** Everything, not the first or last lines. */
  isOpen?: boolean;
  maxLines?: number;
}

/** A tool call: what it is about, how it stands, how long it takes, and the part of its output that matters now. */
export function renderCard(call: CallView, context: ViewContext, options: CardOptions = {}): string {
  const { isOpen = false, maxLines = cardLines } = options;
  const isOver = call.durationMs !== undefined;
  const inside = { ...context, width: Math.max(8, context.width - 2) };
  const size: DisplaySize = isOpen ? wholeDisplay : { maxLines, fromEnd: !isOver || endsMatter.has(call.name) };
  const body =
    call.error === undefined
      ? renderDisplay(call.display, inside, size)
      : wrapLines(context.style.failure(inert(call.error)), inside.width).join('\n');
  const title = renderTitle(call, context, options);
  return body === '' ? title : `${title}\n${body.replace(/^/gm, '  ')}`;
}

/** True when the card leaves something out that `isOpen` would show. */
export function isCut(call: CallView, context: ViewContext): boolean {
  return renderCard(call, context) !== renderCard(call, context, { isOpen: true });
}

/** The first line of a card, or two where it is narrow. */
export function renderTitle(call: CallView, context: ViewContext, { now = 0, isOpen = false }: CardOptions): string {
  const { style, width, isSpoken } = context;
  const { status } = call;
  const paint = status === 'success' ? style.success : status === 'error' ? style.failure : style.accent;
  const mark = paint(isSpoken ? `${words[status]}:` : marks[status]);
  const seconds = `${((call.durationMs ?? Math.max(0, now - call.startedAt)) / 1000).toFixed(1)} s`;
  const room = Math.max(8, 2 * width - call.name.length - seconds.length - 4);
  const about = isOpen ? call.description : oneLine(call.description, room);
  return wrapLines(`${mark} ${style.bold(inert(call.name))} ${inert(about)} ${style.dim(seconds)}`, width).join('\n');
}
