import type { HistoryItem } from '../tui/screen-state.js';
import { renderCard } from './card.js';
import { wrapLines } from './lines.js';
import type { ViewContext } from './view-context.js';

/** One thing of the scrollback, as lines. */
export function renderItem(item: HistoryItem, context: ViewContext): string {
  const { style, width, markdown, isSpoken } = context;
  switch (item.type) {
    case 'prompt':
      return `\n${promptLines(item.text, context)}`;
    case 'answer':
      return `${isSpoken ? '' : '\n'}${markdown(item.text, width)}`;
    case 'call':
      return renderCard(item.call, context, item.isOpen ? { isOpen: true } : {});
    case 'notice':
      return wrapLines(item.level === 'warning' ? style.warning(`! ${item.text}`) : style.dim(item.text), width).join(
        '\n',
      );
    case 'output':
      return item.text;
  }
}

/** Of a long paste only the beginning is repeated. */
const maxPromptLines = 12;

function promptLines(text: string, { style, width, isSpoken }: ViewContext): string {
  const lines = wrapLines(text.replaceAll('\t', '    '), Math.max(8, width - 2));
  const shown = lines.slice(0, maxPromptLines).map((line) => style.bold(line));
  const left = lines.length - shown.length;
  const rest = left > 0 ? [style.dim(`… ${left} more lines`)] : [];
  return `${isSpoken ? 'you:' : style.accent('❯')} ${[...shown, ...rest].join('\n  ')}`;
}
