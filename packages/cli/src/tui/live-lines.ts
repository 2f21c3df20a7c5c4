import { renderCard, renderTitle } from '../render/card.js';
import { inert, oneLine } from '../render/lines.js';
import type { ViewContext } from '../render/view-context.js';
import type { ScreenState } from './screen-state.js';

export interface LiveOptions {
  now: number;
  /** Lines there is room for. */
  rows: number;
  /** The person wants to see more of what runs. */
  isTall: boolean;
}

const tailLines = 5;
const textLines = 12;

/**
 * What is going on, in at most `rows` lines: the end of what the model writes, then the calls that run. It never grows
 * beyond the screen, for what has left the screen cannot be redrawn.
 */
export function liveLines(screen: ScreenState, context: ViewContext, { now, rows, isTall }: LiveOptions): string[] {
  const { calls, liveText } = screen;
  if (rows <= 0 || context.isSpoken) return [];
  const forCards = liveText.trim() === '' ? rows : Math.max(rows - textLines, Math.floor(rows / 2));
  // A title may take two lines, and "… more lines" one.
  const perCard = Math.floor(forCards / Math.max(1, calls.length)) - 3;
  const maxLines = Math.min(isTall ? perCard : tailLines, perCard);
  const draw = maxLines < 1 ? renderTitle : renderCard;
  const cards = calls.flatMap((call) => draw(call, context, { now, maxLines }).split('\n'));
  const room = Math.max(0, rows - cards.length);
  const text = liveText.trim() === '' ? [] : `\n${context.markdown(inert(liveText), context.width)}`.split('\n');
  return [...lastLines(text, Math.min(room, isTall ? rows : textLines)), ...lastLines(cards, rows)];
}

function lastLines(lines: readonly string[], count: number): string[] {
  if (lines.length <= count) return [...lines];
  return count <= 1 ? lines.slice(lines.length - count) : ['…', ...lines.slice(1 - count)];
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/** How often the spinner turns. */
export const spinnerMs = 100;

export function spinnerLine(screen: ScreenState, { style, width }: ViewContext, now: number): string {
  const frame = style.isPlain ? '*' : (frames[Math.floor(now / spinnerMs) % frames.length] ?? '');
  const doing = screen.retry ?? screen.todo ?? (screen.isThinking ? 'thinking' : 'working');
  const parts = [doing, `${Math.floor((now - screen.startedAt) / 1000)} s`, ...spent(screen), 'esc to cancel'];
  return `${style.accent(frame)} ${style.dim(oneLine(inert(parts.join(' · ')), width - 2))}`;
}

export interface StatusFields {
  model: string;
  mode: string;
  sandbox: string;
}

export function statusLine(screen: ScreenState, fields: StatusFields, { style, width }: ViewContext): string {
  const share = Math.round((100 * screen.contextTokens) / Math.max(1, screen.contextWindow));
  const parts = [
    fields.model,
    `${fields.mode} mode (shift+tab)`,
    fields.sandbox,
    ...(screen.contextWindow > 0 ? [`context ${share} %`] : []),
    ...(screen.isBusy ? [] : spent(screen)),
  ];
  return style.dim(oneLine(inert(parts.join(' · ')), width));
}

function spent({ tokens, cost }: ScreenState): string[] {
  return [
    ...(tokens > 0 ? [`${short(tokens)} tokens`] : []),
    ...(cost === undefined ? [] : [`${(cost / 100).toFixed(2)} $`]),
  ];
}

function short(count: number): string {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
