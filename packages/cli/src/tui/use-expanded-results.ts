import { useRef, useState } from 'react';
import { isCut } from '../render/card.js';
import type { ViewContext } from '../render/view-context.js';
import { useInput } from '../screen/screen.js';
import type { HistoryItem, ScreenState } from './screen-state.js';

/**
 * Ctrl+O: more of what runs, or, when nothing runs, all of the last result that was cut; once more, of the one before.
 * The scrollback never changes, so the whole result is added at its end.
 */
export function useOpenCards(
  screen: ScreenState,
  context: ViewContext,
  add: (item: HistoryItem) => void,
): { isTall: boolean } {
  const [isTall, setTall] = useState(false);
  const shown = useRef({ items: 0, next: 0 });
  const openLast = () => {
    const { items } = screen;
    const last = shown.current.items === items.length ? shown.current.next : items.length;
    const index = items.findLastIndex(
      (item, at) => at < last && item.type === 'call' && !item.isOpen && isCut(item.call, context),
    );
    const item = items[index];
    if (item?.type === 'call') add({ ...item, isOpen: true });
    else add({ type: 'notice', level: 'info', text: 'There is nothing more to show.' });
    shown.current = { items: items.length + 1, next: Math.max(0, index) };
  };
  useInput((input, key) => {
    if (!key.ctrl || input !== 'o') return;
    if (screen.isBusy) setTall(!isTall);
    else openLast();
  });
  return { isTall: isTall && screen.isBusy };
}
