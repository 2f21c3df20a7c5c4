import { diffLines, type LineEdit } from '../text/line-diff.js';
import type { CheckedChange } from '../tools/file-change-tool.js';
import { maxPerFile, type Problem } from './problem.js';
import { linesOf } from './protocol.js';

/** The problems of each file that is known, by path. */
export type ProblemsByFile = ReadonlyMap<string, readonly Problem[]>;

/**
 * The problems that are there after a change and were not before, those of the changed file first. A problem keeps its
 * identity when the lines above it move, and anywhere inside the lines that were replaced. A file whose problems before
 * are not known has no new ones.
 */
export async function newProblems(old: ProblemsByFile, now: ProblemsByFile, change: CheckedChange): Promise<Problem[]> {
  const { path, before, after } = change;
  const edits = before === null ? [] : await diffLines(linesOf(before), linesOf(after));
  const found: Problem[] = [];
  for (const [file, problems] of now) {
    const known = old.get(file) ?? (file === path && before === null ? [] : undefined);
    if (known === undefined || known.length === maxPerFile) continue;
    const moves = file === path ? edits : [];
    const counts = new Map<string, number>();
    for (const problem of known) {
      const key = keyOf(problem, placeBefore(problem.line, moves));
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    for (const problem of problems) {
      const key = keyOf(problem, placeAfter(problem.line, moves));
      const left = counts.get(key) ?? 0;
      if (left > 0) counts.set(key, left - 1);
      else found.push(problem);
    }
  }
  const rank = ({ path: file, isError }: Problem) => (file === path ? 0 : 2) + (isError ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
}

/** Where a line of the old text is now, or the edit that replaced it. */
function placeBefore(line: number, edits: readonly LineEdit[]): number | LineEdit {
  let shift = 0;
  for (const edit of edits) {
    if (line < edit.oldStart) break;
    if (line < edit.oldEnd) return edit;
    shift = edit.newEnd - edit.oldEnd;
  }
  return line + shift;
}

function placeAfter(line: number, edits: readonly LineEdit[]): number | LineEdit {
  return edits.find(({ newStart, newEnd }) => line >= newStart && line < newEnd) ?? line;
}

function keyOf({ column, code, message }: Problem, place: number | LineEdit): string {
  const where = typeof place === 'number' ? `${place}:${column}` : `edit ${place.newStart}`;
  return `${where}\0${code}\0${message}`;
}
