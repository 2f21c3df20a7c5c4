import { type Display, type TaskExecution, type TodoList, visibleText } from '@lathe/core';
import { renderDiff } from './diff.js';
import type { Style } from './style.js';

/** Lines of a display that a card shows before it says how many more there are. */
const cardLines = 12;

/** What a tool has to show, as lines. `isOpen` shows all of it. */
export function renderDisplay(
  display: Display | undefined,
  style: Style,
  { isOpen = false, fromEnd = false } = {},
): string {
  if (display === undefined || display === '') return '';
  if (typeof display === 'string') return clip(visibleText(display), style, { isOpen, fromEnd });
  switch (display.type) {
    case 'file_diff':
      return renderDiff(display.fileDiff, style, isOpen ? {} : { maxLines: 40 });
    case 'todo_list':
      return renderTodos(display, style);
    case 'plan_summary':
      return visibleText(display.message);
    case 'task_execution':
      return renderTask(display, style);
    case 'terminal_output':
      return clip(visibleText(display.text), style, { isOpen, fromEnd: true });
  }
}

const marks = { pending: '☐', in_progress: '▶', completed: '☑' } as const;

function renderTodos({ todos }: TodoList, style: Style): string {
  const paint = { pending: (text: string) => text, in_progress: style.bold, completed: style.dim };
  return todos.map(({ content, status }) => paint[status](`${marks[status]} ${visibleText(content)}`)).join('\n');
}

function renderTask({ subagentName, status, toolCalls, result }: TaskExecution, style: Style): string {
  const recent = toolCalls
    .slice(-4)
    .map((call) => style.dim(visibleText(`  ${call.name} ${call.description} (${call.status})`)));
  const end = status === 'running' ? [] : [clip(visibleText(result ?? ''), style, { isOpen: false, fromEnd: false })];
  return [`${visibleText(subagentName)}: ${status}, ${toolCalls.length} calls`, ...recent, ...end]
    .filter(Boolean)
    .join('\n');
}

function clip(text: string, style: Style, { isOpen, fromEnd }: { isOpen: boolean; fromEnd: boolean }): string {
  const lines = text.replace(/\n+$/, '').split('\n');
  if (isOpen || lines.length <= cardLines) return lines.join('\n');
  const rest = style.dim(`… ${lines.length - cardLines} more lines`);
  return fromEnd ? [rest, ...lines.slice(-cardLines)].join('\n') : [...lines.slice(0, cardLines), rest].join('\n');
}
