import { type CallView, renderCard } from './card.js';
import { wrapLines } from './lines.js';
import type { ViewContext } from './view-context.js';

/** One entry of the scrollback. It never changes once it is there. All text is sanitized. */
export type HistoryItem =
  | { type: 'prompt'; text: string }
  | { type: 'answer'; text: string }
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
    case 'call':
      return renderCard(item.call, context, item.isExpanded ? { isExpanded: true } : {});
    case 'notice':
      return wrapLines(item.level === 'warning' ? style.warning(`! ${item.text}`) : style.dim(item.text), width).join(
        '\n',
      );
    case 'output':
      return item.text;
  }
}

/** Only the beginning of a long prompt is shown. */
const maxPromptLines = 12;

function promptLines(text: string, { style, width, isScreenReader }: ViewContext): string {
  const lines = wrapLines(text.replaceAll('\t', '    '), Math.max(8, width - 2));
  const shown = lines.slice(0, maxPromptLines).map((line) => style.bold(line));
  const omitted = lines.length - shown.length;
  const rest = omitted > 0 ? [style.dim(`… ${omitted} more lines`)] : [];
  return `${isScreenReader ? 'you:' : style.accent('❯')} ${[...shown, ...rest].join('\n  ')}`;
}
