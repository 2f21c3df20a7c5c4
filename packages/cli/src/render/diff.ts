import { visibleText } from '@lathe/core';
import type { Style } from './style.js';

/** A unified diff with colours and side markers. Trailing blanks and tabs of changed lines are made visible. */
export function renderDiff(diff: string, style: Style, { maxLines = Number.POSITIVE_INFINITY } = {}): string {
  const lines = diff.replace(/\n$/, '').split('\n');
  const shown = lines.slice(0, maxLines).map((line) => renderLine(line, style));
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, style.dim(`… ${rest} more lines`)].join('\n') : shown.join('\n');
}

function renderLine(line: string, style: Style): string {
  if (line.startsWith('+++') || line.startsWith('---')) return style.bold(visibleText(line));
  if (line.startsWith('@@')) return style.accent(visibleText(line));
  if (line.startsWith('+')) return style.added(visibleText(withBlanks(line)));
  if (line.startsWith('-')) return style.removed(visibleText(withBlanks(line)));
  return style.dim(visibleText(line));
}

function withBlanks(line: string): string {
  return line.replaceAll('\t', '→\t').replace(/ +(?=\r?$)/, (blanks) => '·'.repeat(blanks.length));
}
