import type { BackgroundTask } from '@lathe/agent';
import { oneLine, sanitize } from '../render/lines.js';
import type { ViewContext } from '../render/view-context.js';
import { formatCount } from './live-lines.js';

const maxRows = 6;

/** One row for each subagent that works in the background: state, tokens and time. */
export function taskLines(tasks: readonly BackgroundTask[], { style, width }: ViewContext, now: number): string[] {
  const open = tasks.filter(({ endedAt }) => endedAt === undefined);
  const rows = open.slice(0, open.length > maxRows ? maxRows - 1 : maxRows).map((task) => {
    const seconds = Math.max(0, Math.floor((now - task.startedAt) / 1000));
    const { id, name, description, state, tokens, activity } = task;
    const parts = [
      `${id} ${name}: ${description}`,
      state,
      ...(tokens > 0 ? [`${formatCount(tokens)} tokens`] : []),
      `${seconds} s`,
      ...(activity === '' ? [] : [activity]),
    ];
    return `  ${oneLine(sanitize(parts.join(' · ')), width - 2)}`;
  });
  const more = open.length > rows.length ? [`  … ${open.length - rows.length} more (/agents)`] : [];
  return [...rows, ...more].map((row) => style.dim(row));
}
