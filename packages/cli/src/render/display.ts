import type { Display, FileDiff } from '@lathe/core';
import type { PlanSummary, TaskExecution, TodoList } from '@lathe/core/host';
import { renderDiff } from './diff.js';
import { excerpt, oneLine, sanitize, wrapHanging } from './lines.js';
import type { ViewContext } from './view-context.js';

export interface DisplaySize {
  /** Lines of plain output; diffs and plans may be longer. */
  maxLines: number;
  /** The last lines matter more than the first. */
  fromEnd?: boolean;
  /** Colours plain output. */
  paint?: (line: string) => string;
}

const maxDiffLines = 40;
const maxSteps = 4;

/** No limit. */
export const wholeDisplay: DisplaySize = { maxLines: Number.POSITIVE_INFINITY };

/** Renders the display of a tool as lines of at most `context.width` columns. */
export function renderDisplay(display: Display | undefined, context: ViewContext, size: DisplaySize): string {
  if (display === undefined || display === '') return '';
  if (typeof display === 'string') return renderText(display, context, size);
  switch (display.type) {
    case 'file_diff':
      return renderFileDiff(display, context, size);
    case 'todo_list':
      return renderTodos(display, context);
    case 'plan_summary':
      return renderPlan(display, context);
    case 'task_execution':
      return renderTask(display, context, size);
    case 'terminal_output':
      return renderText(display.text, context, { ...size, fromEnd: true });
  }
}

function renderFileDiff({ fileDiff, problems }: FileDiff, context: ViewContext, size: DisplaySize): string {
  const maxLines = size.maxLines === wholeDisplay.maxLines ? size.maxLines : maxDiffLines;
  const diff = renderDiff(fileDiff, context.style, { width: context.width, maxLines });
  return problems === undefined ? diff : `${diff}\n${renderText(problems, context, { maxLines })}`;
}

function renderText(text: string, { style, width, isScreenReader }: ViewContext, size: DisplaySize): string {
  const { maxLines, fromEnd = false, paint = style.dim } = size;
  const { lines, omitted } = excerpt(text.replace(/^(?:[ \t\r]*\n)+/, ''), maxLines, { fromEnd });
  const wrapped = lines.flatMap((line) => wrapHanging(sanitize(line), width)).map((line) => line && paint(line));
  const shown = fromEnd ? wrapped.slice(-maxLines) : wrapped.slice(0, maxLines);
  if (omitted === 0) return shown.join('\n');
  const hint = isScreenReader ? '' : ' (Ctrl+O)';
  const rest = style.dim(`… ${omitted} more ${omitted === 1 ? 'line' : 'lines'}${hint}`);
  return (fromEnd ? [rest, ...shown] : [...shown, rest]).join('\n');
}

const marks = { pending: '☐', in_progress: '▶', completed: '☑' } as const;
const words = { pending: 'to do:', in_progress: 'doing:', completed: 'done:' } as const;

function renderTodos({ todos }: TodoList, { style, width, isScreenReader }: ViewContext): string {
  const paint = { pending: (text: string) => text, in_progress: style.bold, completed: style.dim };
  return todos
    .flatMap(({ content, status }) => {
      const mark = (isScreenReader ? words : marks)[status];
      return wrapHanging(paint[status](`${mark} ${sanitize(content)}`), width);
    })
    .join('\n');
}

function renderPlan({ message, plan }: PlanSummary, { markdown, width, style }: ViewContext): string {
  return `${style.dim(sanitize(message))}\n${markdown(sanitize(plan), width)}`;
}

const stepMarks: Record<string, string> = { success: '✓', error: '✗', cancelled: '–' };

function renderTask(task: TaskExecution, context: ViewContext, size: DisplaySize): string {
  const { style, width, isScreenReader, toolName } = context;
  const count = task.toolCalls.length;
  const state = `${task.subagentName} ${task.status}, ${count} ${count === 1 ? 'call' : 'calls'}`;
  const steps = task.toolCalls.slice(-maxSteps).map(({ name, description, status }) => {
    const mark = isScreenReader ? `${status}:` : (stepMarks[status] ?? '●');
    return style.dim(sanitize(oneLine(`${mark} ${toolName(name)} ${description}`, width)));
  });
  const result = task.status === 'running' ? '' : renderText(task.result ?? '', context, size);
  return [sanitize(state), ...steps, result].filter((line) => line !== '').join('\n');
}
