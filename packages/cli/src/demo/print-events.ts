import type { AgentEvent } from '@lathe/core';
import type { Io } from '../io.js';
import { renderDisplay } from '../render/card.js';
import { renderMarkdown } from '../render/markdown.js';
import type { Style } from '../render/style.js';
import { emptyScreen, type HistoryItem, nextScreen } from '../tui/screen-state.js';

/** Prints each thing that the screen would add to its scrollback. True when the agent was done and nothing failed. */
export async function printEvents(events: AsyncIterable<AgentEvent>, io: Io, style: Style): Promise<boolean> {
  let screen = emptyScreen;
  let isDone = false;
  let hasFailed = false;
  for await (const event of events) {
    const before = screen.items.length;
    screen = nextScreen(screen, { type: 'agent', event, now: performance.now() });
    for (const item of screen.items.slice(before)) io.out(renderItem(item, style));
    if (event.type === 'prompt-end') isDone = event.end.reason === 'done';
    if (event.type === 'call-end') hasFailed ||= event.outcome.status !== 'success';
  }
  return isDone && !hasFailed;
}

function renderItem(item: HistoryItem, style: Style): string {
  switch (item.type) {
    case 'call': {
      const { status, name, description, durationMs = 0, display, error } = item.call;
      const mark = status === 'success' ? style.success('✓') : style.failure('✗');
      const body = error ?? renderDisplay(display, style);
      const title = `${mark} ${style.bold(name)} ${description} ${style.dim(`${(durationMs / 1000).toFixed(1)} s`)}`;
      return body === '' ? title : `${title}\n${body.replace(/^/gm, '  ')}`;
    }
    case 'answer':
      return `\n${renderMarkdown(item.text, 100, style)}`;
    case 'prompt':
    case 'notice':
    case 'output':
      return item.text;
  }
}
