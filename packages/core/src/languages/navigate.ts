import { ToolError } from '../contract/errors.js';
import { sanitizeDescription } from '../text/sanitize-definition.js';
import { visibleText } from '../text/visible-text.js';
import { pathOf } from './file-uri.js';
import type { LanguageServer } from './language-server.js';
import type { LanguageServers } from './language-servers.js';
import { field } from './problem.js';
import { readSmallText } from './read-small-text.js';
import { renameEdits } from './rename-edits.js';
import { outline } from './symbol-outline.js';

export const navigationActions = ['definition', 'references', 'symbols', 'hover', 'rename'] as const;

/** What to look for, in a file that may be read. */
export interface NavigationRequest {
  action: (typeof navigationActions)[number];
  path: string;
  /** From 1. */
  line?: number | undefined;
  symbol?: string | undefined;
  newName?: string | undefined;
}

/** A text for the model; for a rename, how the text of each file changes. */
export type NavigationResult =
  | { type: 'text'; text: string }
  | { type: 'edits'; files: ReadonlyMap<string, (text: string) => string> };

const maxPlaces = 100;
const maxText = 4_000;

const methods = {
  definition: { method: 'textDocument/definition', provider: 'definitionProvider' },
  references: { method: 'textDocument/references', provider: 'referencesProvider' },
  symbols: { method: 'textDocument/documentSymbol', provider: 'documentSymbolProvider' },
  hover: { method: 'textDocument/hover', provider: 'hoverProvider' },
  rename: { method: 'textDocument/rename', provider: 'renameProvider' },
} as const;

/** Asks the server of the file. Places outside the workspace are named, but nothing of them is shown. */
export async function navigate(servers: LanguageServers, request: NavigationRequest): Promise<NavigationResult> {
  const { action, path } = request;
  const { method, provider } = methods[action];
  const params = paramsFor(request, await readSmallText(path));
  const asked = servers.use(path, async (server: LanguageServer) => {
    if (!server.offers(provider)) throw new ToolError('execution_failed', `The language server has no ${action}.`);
    return server.ask(method, path, params);
  });
  if (asked === undefined) throw new ToolError('execution_failed', `No language server is there for ${path}.`);
  const answer = await asked.catch((error: unknown) => {
    if (error instanceof ToolError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ToolError('execution_failed', `The language server did not answer: ${sanitizeDescription(reason, 300)}`);
  });
  if (action === 'rename') return { type: 'edits', files: renameEdits(answer, (file) => servers.isInside(file)) };
  const text = await textFor(action, answer, servers);
  return { type: 'text', text: text === '' ? `No ${action} found.` : text };
}

function paramsFor({ action, path, line, symbol, newName }: NavigationRequest, text: string | undefined): object {
  if (text === undefined) throw new ToolError('file_not_found', `${path} is missing, or too large to navigate in.`);
  if (action === 'symbols') return {};
  return {
    position: positionOf(text, line, symbol),
    ...(action === 'references' && { context: { includeDeclaration: true } }),
    ...(action === 'rename' && { newName }),
  };
}

/** Where the name is in the line, or first in the file. */
function positionOf(text: string, line: number | undefined, symbol: string | undefined) {
  const lines = text.split('\n');
  const first = line === undefined ? 0 : line - 1;
  const last = line === undefined ? lines.length - 1 : first;
  for (let at = first; at <= last; at++) {
    const content = lines[at];
    if (content === undefined) break;
    const character = symbol === undefined ? content.search(/\S|$/) : columnOf(content, symbol);
    if (character !== -1) return { line: at, character };
  }
  const where = line === undefined ? 'the file' : `line ${line}`;
  throw new ToolError('invalid_tool_params', symbol ? `${symbol} is not in ${where}.` : `There is no line ${line}.`);
}

/** The first place where `symbol` is not a part of a longer name; of a dotted one, its last part. */
function columnOf(line: string, symbol: string): number {
  const isName = /[\w$]/;
  for (let at = line.indexOf(symbol); at !== -1; at = line.indexOf(symbol, at + 1)) {
    const [before = '', after = ''] = [line[at - 1], line[at + symbol.length]];
    if (!isName.test(before) && !isName.test(after)) return at + symbol.lastIndexOf('.') + 1;
  }
  return -1;
}

async function textFor(
  action: 'definition' | 'references' | 'symbols' | 'hover',
  answer: unknown,
  servers: LanguageServers,
) {
  if (action === 'symbols') return outline(answer);
  if (action === 'hover') return sanitizeDescription(hoverText(field(answer, 'contents')), maxText).trim();
  const all = Array.isArray(answer) ? answer : [answer];
  const places = all.flatMap((entry: unknown) => {
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
      texts.set(path, (shown === undefined ? undefined : await readSmallText(shown))?.split('\n') ?? []);
    }
    const content = visibleText((texts.get(path)?.[line] ?? '').trim().slice(0, 200));
    lines.push(`${servers.display(path)}:${line + 1}:${column + 1}${content === '' ? '' : `: ${content}`}`);
  }
  if (places.length > lines.length) lines.push(`(${places.length - lines.length} more)`);
  return lines.join('\n');
}

/** Plain text, Markdown, or a list of them. */
function hoverText(contents: unknown): string {
  if (typeof contents === 'string') return contents;
  if (Array.isArray(contents)) return contents.slice(0, 20).map(hoverText).join('\n');
  const value = field(contents, 'value');
  return typeof value === 'string' ? value : '';
}
