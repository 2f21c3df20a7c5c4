import { useRef, useState } from 'react';
import { type HistoryItem, isExpandable } from '../render/history-item.js';
import type { ViewContext } from '../render/view-context.js';
import { useInput } from '../screen/screen.js';
import type { ScreenState } from './screen-state.js';

/**
 * Ctrl+O shows more of running calls. If nothing runs, it adds the full result of the last truncated call to the end of
 * the scrollback; pressed again, of the call before that.
 */
export function useExpandedResults(
  screen: ScreenState,
  context: ViewContext,
  add: (item: HistoryItem) => void,
): { isExpanded: boolean } {
  const [isExpanded, setExpanded] = useState(false);
  const shown = useRef({ items: 0, next: 0 });
  const expandLast = () => {
    const { items } = screen;
    const last = shown.current.items === items.length ? shown.current.next : items.length;
    const index = items.findLastIndex((item, at) => at < last && isExpandable(item, context));
    const item = items[index];
    if (item?.type === 'call' || item?.type === 'reasoning') add({ ...item, isExpanded: true });
    else add({ type: 'notice', level: 'info', text: 'Nothing more to show.' });
    shown.current = { items: items.length + 1, next: Math.max(0, index) };
  };
  useInput((input, key) => {
    if (!key.ctrl || input !== 'o') return;
    if (screen.isBusy) setExpanded(!isExpanded);
    else expandLast();
  });
  return { isExpanded: isExpanded && screen.isBusy };
}
