import { sanitizeDescription } from '../text/sanitize-definition.js';
import { visibleText } from '../text/visible-text.js';
import type { LanguageServers } from './language-servers.js';
import { field, linesOf, oneLine, pathOf, positionOf } from './protocol.js';
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
    const start = positionOf(field(field(entry, 'range') ?? field(entry, 'targetSelectionRange'), 'start'));
    return path !== undefined && start ? [{ path, ...start }] : [];
  });
  const texts = new Map<string, string[]>();
  const lines: string[] = [];
  for (const { path, line, character } of places.slice(0, maxPlaces)) {
    if (!texts.has(path)) {
      const shown = await servers.showable(path);
      texts.set(path, linesOf((shown && (await readSmallText(shown))) ?? ''));
    }
    const content = visibleText((texts.get(path)?.[line] ?? '').trim().slice(0, 200));
    lines.push(`${servers.display(path)}:${line + 1}:${character + 1}${content === '' ? '' : `: ${content}`}`);
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
  const lines = symbolLines(answer, 0);
  const rest = lines.length > maxSymbols ? ['(more symbols are not shown)'] : [];
  return [...lines.slice(0, maxSymbols), ...rest].join('\n');
}

function symbolLines(entries: unknown, depth: number): string[] {
  if (!Array.isArray(entries) || depth > maxDepth) return [];
  return entries.flatMap((entry: unknown) => {
    const name = field(entry, 'name');
    const range = field(entry, 'selectionRange') ?? field(field(entry, 'location'), 'range');
    const start = positionOf(field(range, 'start'));
    if (typeof name !== 'string' || !start) return [];
    const kind = kinds[Number(field(entry, 'kind')) - 1] ?? 'symbol';
    const line = `${'  '.repeat(depth)}${start.line + 1}: ${kind} ${oneLine(name, 120)}`;
    return [line, ...symbolLines(field(entry, 'children'), depth + 1)];
  });
}
