import type { Problem } from './problem.js';

const maxShown = 20;

/** The lines of a result that name problems; none when there are none. */
export function describeProblems(
  title: string,
  problems: readonly Problem[],
  display: (path: string) => string,
): string[] {
  if (problems.length === 0) return [];
  const lines = problems.slice(0, maxShown).map(({ path, line, column, isError, code, message }) => {
    const kind = [isError ? 'error' : 'warning', ...(code === '' ? [] : [code])].join(' ');
    return `${display(path)}:${line + 1}:${column + 1} ${kind}: ${message}`;
  });
  const rest = problems.length - lines.length;
  return [`${title}:`, ...lines, ...(rest > 0 ? [`(${rest} more)`] : [])];
}
