import type { AgentEvent } from '@lathe/agent';
import type { ToolRegistry } from '@lathe/core';
import type { Io } from '../command-line/io.js';
import { renderItem } from '../render/history-item.js';
import { renderMarkdown } from '../render/markdown.js';
import type { Style } from '../render/style.js';
import { toolNames } from '../render/tool-names.js';
import type { ViewContext } from '../render/view-context.js';
import { emptyScreen, nextScreen } from '../tui/screen-state.js';

/** Prints what the screen would add to its scrollback. Returns true if the agent finished and no call failed. */
export async function printEvents(
  events: AsyncIterable<AgentEvent>,
  tools: Pick<ToolRegistry, 'getTool'>,
  io: Io,
  style: Style,
): Promise<boolean> {
  const context: ViewContext = {
    style,
    width: 100,
    markdown: (text, width) => renderMarkdown(text, width, style),
    isScreenReader: false,
    toolName: toolNames(tools),
  };
  let screen = emptyScreen;
  let isDone = false;
  let hasFailed = false;
  for await (const event of events) {
    const before = screen.items.length;
    screen = nextScreen(screen, { type: 'agent', event, now: performance.now() });
    for (const item of screen.items.slice(before)) io.out(renderItem(item, context));
    if (event.type === 'prompt-end') isDone = event.end.reason === 'done';
    if (event.type === 'call-end') hasFailed ||= event.outcome.status !== 'success';
  }
  return isDone && !hasFailed;
}
