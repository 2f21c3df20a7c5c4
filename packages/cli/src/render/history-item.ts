import { type CallView, isTruncated, renderCard } from './card.js';
import { sanitize, wrapHanging, wrapLines } from './lines.js';
import type { ViewContext } from './view-context.js';

/** One entry of the scrollback. It never changes once it is there. All text is sanitized. */
export type HistoryItem =
  | { type: 'prompt'; text: string }
  | { type: 'answer'; text: string }
  /** What the model thought. Folded to one line, unless `isExpanded`. */
  | { type: 'reasoning'; text: string; seconds: number; isExpanded?: boolean }
  | { type: 'call'; call: CallView; isExpanded?: boolean }
  | { type: 'notice'; level: 'info' | 'warning'; text: string }
  /** Output of a slash command, already rendered. */
  | { type: 'output'; text: string };

/** Renders one entry of the scrollback as lines. */
export function renderItem(item: HistoryItem, context: ViewContext): string {
  const { style, width, markdown, isScreenReader } = context;
  switch (item.type) {
    case 'prompt':
      return `\n${promptLines(item.text, context)}`;
    case 'answer':
      return `${isScreenReader ? '' : '\n'}${markdown(item.text, width)}`;
    case 'reasoning':
      return renderReasoning(item, context);
    case 'call':
      return renderCard(item.call, context, item.isExpanded ? { isExpanded: true } : {});
    case 'notice':
      return (
        item.level === 'warning' ? warningLines(item.text, context) : wrapHanging(style.dim(item.text), width)
      ).join('\n');
    case 'output':
      return wrapHanging(item.text, width).join('\n');
  }
}

/** All lines begin below the text of the first one. */
function warningLines(text: string, { style, width }: ViewContext): string[] {
  return wrapHanging(style.warning(`! ${text.replaceAll('\n', '\n  ')}`), width);
}

/** True if the item shows more with `isExpanded`. */
export function isExpandable(item: HistoryItem, context: ViewContext): boolean {
  if (item.type === 'reasoning') return !item.isExpanded;
  return item.type === 'call' && !item.isExpanded && isTruncated(item.call, context);
}

function renderReasoning(
  { text, seconds, isExpanded = false }: Extract<HistoryItem, { type: 'reasoning' }>,
  { style, width, isScreenReader }: ViewContext,
): string {
  const mark = isScreenReader ? '' : '✻ ';
  if (!isExpanded) return style.dim(`${mark}Thought for ${seconds} s${isScreenReader ? '' : ' (Ctrl+O shows it)'}`);
  const lines = wrapLines(style.italic(sanitize(text.trim())), Math.max(8, width - 2));
  return [style.dim(`${mark}Thought for ${seconds} s`), ...lines.map((line) => `  ${style.dim(line)}`)].join('\n');
}

/** Only the beginning of a long prompt is shown. */
const maxPromptLines = 12;

function promptLines(text: string, { style, width, isScreenReader }: ViewContext): string {
  const lines = wrapHanging(text.replaceAll('\t', '    '), Math.max(8, width - 2));
  const shown = lines.slice(0, maxPromptLines).map((line) => style.bold(line));
  const omitted = lines.length - shown.length;
  const rest = omitted > 0 ? [style.dim(`… ${omitted} more lines`)] : [];
  return `${isScreenReader ? 'you:' : style.accent('❯')} ${[...shown, ...rest].join('\n  ')}`;
}
