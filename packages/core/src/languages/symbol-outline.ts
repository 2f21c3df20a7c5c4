import { sanitizeDescription } from '../text/sanitize-definition.js';
import { field } from './problem.js';

/** The kinds of symbols in the order of the protocol, from 1. */
const kinds =
  'file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null enum-member struct event operator type-parameter'.split(
    ' ',
  );
const maxSymbols = 300;
const maxDepth = 4;

/** The symbols of a file, one per line, indented by nesting. */
export function outline(answer: unknown): string {
  const lines: string[] = [];
  const add = (entries: unknown, depth: number) => {
    if (!Array.isArray(entries) || depth > maxDepth) return;
    for (const entry of entries) {
      if (lines.length >= maxSymbols) return;
      const name = field(entry, 'name');
      if (typeof name !== 'string') continue;
      const range = field(entry, 'selectionRange') ?? field(entry, 'range') ?? field(field(entry, 'location'), 'range');
      const line = Number(field(field(range, 'start'), 'line')) + 1;
      const kind = kinds[Number(field(entry, 'kind')) - 1] ?? 'symbol';
      lines.push(`${'  '.repeat(depth)}${line}: ${kind} ${sanitizeDescription(name, 120)}`);
      add(field(entry, 'children'), depth + 1);
    }
  };
  add(answer, 0);
  return lines.length < maxSymbols ? lines.join('\n') : `${lines.join('\n')}\n(more symbols are not shown)`;
}
