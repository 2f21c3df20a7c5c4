import { sanitizeDescription } from '../text/sanitize-definition.js';
import { visibleText } from '../text/visible-text.js';
import type { LanguageServers } from './language-servers.js';
import { field, linesOf, oneLine, pathOf } from './protocol.js';
import { readSmallText } from './read-small-text.js';

const maxPlaces = 100;
const maxText = 4_000;
const maxSymbols = 300;
const maxDepth = 4;
/** The kinds of symbols in the order of the protocol, from 1. */
const kinds =
  'file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null enum-member struct event operator type-parameter'.split(
    ' ',
  );

/** Places in files, with their lines where these may be shown. */
export async function placesText(answer: unknown, servers: LanguageServers): Promise<string> {
  const places = (Array.isArray(answer) ? answer : [answer]).flatMap((entry: unknown) => {
    const path = pathOf(field(entry, 'uri') ?? field(entry, 'targetUri'));
    const start = field(field(entry, 'range') ?? field(entry, 'targetSelectionRange'), 'start');
    const [line, column] = [Number(field(start, 'line')), Number(field(start, 'character'))];
    return path !== undefined && Number.isSafeInteger(line) ? [{ path, line, column }] : [];
  });
  const texts = new Map<string, string[]>();
  const lines: string[] = [];
  for (const { path, line, column } of places.slice(0, maxPlaces)) {
    if (!texts.has(path)) {
      const shown = await servers.showable(path);
      texts.set(path, linesOf((shown && (await readSmallText(shown))) ?? ''));
    }
    const content = visibleText((texts.get(path)?.[line] ?? '').trim().slice(0, 200));
    lines.push(`${servers.display(path)}:${line + 1}:${column + 1}${content === '' ? '' : `: ${content}`}`);
  }
  if (places.length > lines.length) lines.push(`(${places.length - lines.length} more)`);
  return lines.join('\n');
}

/** The type and documentation of a symbol. */
export function hoverText(answer: unknown): string {
  return sanitizeDescription(markupText(field(answer, 'contents')), maxText).trim();
}

/** Plain text, Markdown, or a list of them. */
function markupText(contents: unknown): string {
  if (typeof contents === 'string') return contents;
  if (Array.isArray(contents)) return contents.slice(0, 20).map(markupText).join('\n');
  const value = field(contents, 'value');
  return typeof value === 'string' ? value : '';
}

/** The symbols of a file, one per line, indented by nesting. */
export function outlineText(answer: unknown): string {
  const lines: string[] = [];
  const add = (entries: unknown, depth: number) => {
    if (!Array.isArray(entries) || depth > maxDepth) return;
    for (const entry of entries) {
      if (lines.length >= maxSymbols) return;
      const name = field(entry, 'name');
      if (typeof name !== 'string') continue;
      const range = field(entry, 'selectionRange') ?? field(field(entry, 'location'), 'range');
      const line = Number(field(field(range, 'start'), 'line')) + 1;
      const kind = kinds[Number(field(entry, 'kind')) - 1] ?? 'symbol';
      lines.push(`${'  '.repeat(depth)}${line}: ${kind} ${oneLine(name, 120)}`);
      add(field(entry, 'children'), depth + 1);
    }
  };
  add(answer, 0);
  return lines.length < maxSymbols ? lines.join('\n') : `${lines.join('\n')}\n(more symbols are not shown)`;
}
