import { renderCard, renderTitle } from '../render/card.js';
import { formatCost } from '../render/format-cost.js';
import { oneLine, sanitize, truncateLine, wrapLines } from '../render/lines.js';
import type { ViewContext } from '../render/view-context.js';
import type { ScreenState } from './screen-state.js';

export interface LiveOptions {
  now: number;
  /** Available lines. */
  rows: number;
  /** Ctrl+O: show more of each running call. */
  isExpanded: boolean;
}

const tailLines = 5;
const textLines = 12;
const thoughtRows = 4;
const thoughtChars = 1_000;

/**
 * The end of the model's text and the running calls, in at most `rows` lines. It never exceeds the screen, because lines
 * that have scrolled off cannot be redrawn.
 */
export function liveLines(screen: ScreenState, context: ViewContext, { now, rows, isExpanded }: LiveOptions): string[] {
  const { calls, liveText } = screen;
  if (rows <= 0 || context.isScreenReader) return [];
  const forCards = liveText.trim() === '' ? rows : Math.max(rows - textLines, Math.floor(rows / 2));
  // A title may take two lines, "… more lines" takes one.
  const perCard = Math.floor(forCards / Math.max(1, calls.length)) - 3;
  const maxLines = Math.min(isExpanded ? perCard : tailLines, perCard);
  const draw = maxLines < 1 ? renderTitle : renderCard;
  const cards = calls.flatMap((call) => draw(call, context, { now, maxLines }).split('\n'));
  const room = Math.max(0, rows - cards.length);
  const text = liveText.trim() === '' ? thoughtLines(screen, context, isExpanded) : answerLines(liveText, context);
  return [...lastLines(text, Math.min(room, isExpanded ? rows : textLines)), ...lastLines(cards, rows)];
}

function answerLines(text: string, { markdown, width }: ViewContext): string[] {
  return `\n${markdown(sanitize(text), width)}`.split('\n');
}

/** The end of what the model thinks; all of it with Ctrl+O. */
function thoughtLines({ reasoning }: ScreenState, { style, width }: ViewContext, isExpanded: boolean): string[] {
  if (!reasoning || reasoning.text.trim() === '') return [];
  const end = isExpanded ? reasoning.text : reasoning.text.slice(-thoughtChars);
  const lines = wrapLines(sanitize(end.trim()), Math.max(8, width - 2));
  return lastLines(lines, isExpanded ? lines.length : thoughtRows).map((line) => `  ${style.dim(style.italic(line))}`);
}

function lastLines(lines: readonly string[], count: number): string[] {
  if (lines.length <= count) return [...lines];
  return count <= 1 ? lines.slice(lines.length - count) : ['…', ...lines.slice(1 - count)];
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/** Time per spinner frame. */
export const spinnerMs = 100;

export function spinnerLine(screen: ScreenState, { style, width }: ViewContext, now: number): string {
  const frame = style.isPlain ? '*' : (frames[Math.floor(now / spinnerMs) % frames.length] ?? '');
  const activity = screen.retry ?? screen.todo ?? (screen.reasoning ? 'thinking' : 'working');
  const seconds = Math.max(0, Math.floor((now - screen.startedAt) / 1000));
  const parts = [activity, `${seconds} s`, ...usageParts(screen), 'Esc to cancel'];
  return `${style.accent(frame)} ${style.dim(oneLine(sanitize(parts.join(' · ')), width - 2))}`;
}

const maxWaiting = 3;

/** What the person has sent and the model has not received yet. */
export function waitingLines({ waiting }: ScreenState, { style, width }: ViewContext): string[] {
  const lines = waiting.slice(0, maxWaiting).map((text) => `  ⏎ ${oneLine(text, width - 18)} (next step)`);
  const more = waiting.length > maxWaiting ? [`  … ${waiting.length - maxWaiting} more`] : [];
  return [...lines, ...more].map((line) => style.dim(truncateLine(line, width)));
}

export interface StatusFields {
  model: string;
  mode: string;
  sandbox: string;
}

/** In a narrow window the hint goes first, then the usage, then the sandbox. */
export function statusLine(screen: ScreenState, fields: StatusFields, { style, width }: ViewContext): string {
  const share = Math.round((100 * screen.contextTokens) / Math.max(1, screen.contextWindow));
  const context = screen.contextWindow > 0 ? [`context ${share}%`] : [];
  const usage = screen.isBusy ? [] : usageParts(screen);
  const mode = `${fields.mode} mode`;
  const lines = [
    [fields.model, `${mode} (Shift+Tab)`, fields.sandbox, ...context, ...usage],
    [fields.model, mode, fields.sandbox, ...context, ...usage],
    [fields.model, mode, fields.sandbox, ...context],
    [fields.model, mode, ...context],
  ].map((parts) => sanitize(parts.join(' · ')));
  const fitting = lines.find((line) => oneLine(line, width) === oneLine(line, Number.MAX_SAFE_INTEGER));
  return style.dim(oneLine(fitting ?? lines[0] ?? '', width));
}

function usageParts({ tokens, cost }: ScreenState): string[] {
  return [...(tokens > 0 ? [`${formatCount(tokens)} tokens`] : []), ...(cost === undefined ? [] : [formatCost(cost)])];
}

export function formatCount(count: number): string {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
