import type { Diagnostic } from 'vscode-languageserver-protocol';
import { field, oneLine, positionOf } from './protocol.js';

/** An error or a warning in a file, as a server reports it. */
export interface Problem {
  path: string;
  /** From 0, as the protocol counts. */
  line: number;
  column: number;
  isError: boolean;
  /** Such as `TS2322`; empty when the server gives none. */
  code: string;
  /** One line. */
  message: string;
}

/** Nobody reads more than this about one file. One that has so many before a change has no new ones. */
export const maxPerFile = 2_000;
const maxMessage = 300;

/** The errors and warnings of a list that a server sent; hints and whatever is malformed are left out. */
export function problemsIn(path: string, list: unknown): Problem[] {
  if (!Array.isArray(list)) return [];
  const diagnostics = list.filter((entry): entry is Diagnostic => isDiagnostic(entry) && (entry.severity ?? 1) <= 2);
  return diagnostics.slice(0, maxPerFile).map((entry) => {
    const { line, character: column } = entry.range.start;
    const isTypeScript = typeof entry.code === 'number' && /^(?:ts|typescript)$/.test(entry.source ?? '');
    const code = oneLine(`${isTypeScript ? 'TS' : ''}${entry.code ?? ''}`, 60);
    const message = oneLine(typeof entry.message === 'string' ? entry.message : entry.message.value, maxMessage);
    return { path, line, column, isError: entry.severity !== 2, code, message };
  });
}

function isDiagnostic(entry: unknown): entry is Diagnostic {
  const message = field(entry, 'message');
  const isPlaced = positionOf(field(field(entry, 'range'), 'start')) !== undefined;
  return isPlaced && (typeof message === 'string' || typeof field(message, 'value') === 'string');
}

const maxShown = 20;

/** The lines of a result that name problems; empty when there are none. */
export function describeProblems(problems: readonly Problem[], display: (path: string) => string): string {
  if (problems.length === 0) return '';
  const lines = problems.slice(0, maxShown).map(({ path, line, column, isError, code, message }) => {
    const kind = `${isError ? 'error' : 'warning'} ${code}`.trim();
    return `${display(path)}:${line + 1}:${column + 1} ${kind}: ${message}`;
  });
  const rest = problems.length - lines.length;
  return ['New problems:', ...lines, ...(rest > 0 ? [`(${rest} more)`] : [])].join('\n');
}
