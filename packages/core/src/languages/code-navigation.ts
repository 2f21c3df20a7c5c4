import { isAbsolute } from 'node:path';
import type { XStatic } from 'typebox/schema';
import { ToolError, thrownText } from '../contract/errors.js';
import { directCall, type ToolCall } from '../contract/tool-call.js';
import { BaseTool } from '../tools/tools.js';
import type { LanguageServers } from './language-servers.js';
import { hoverText, outlineText, placesText } from './navigation-text.js';
import { linesOf, oneLine } from './protocol.js';
import { readSmallText } from './read-small-text.js';
import { renameEdits } from './rename-edits.js';

const schema = {
  type: 'object',
  properties: {
    action: { enum: ['definition', 'references', 'symbols', 'hover', 'rename'] },
    file_path: { type: 'string', description: 'Absolute path' },
    line: { type: 'integer', minimum: 1 },
    symbol: { type: 'string', description: 'Name in that line, or its first use in the file' },
    new_name: { type: 'string', description: 'For rename' },
  },
  required: ['action', 'file_path'],
} as const;

type NavigationParams = XStatic<typeof schema>;

/** Finds its way in code, and renames what is found. Each file that a rename changes is written like any other. */
export class CodeNavigationTool extends BaseTool<NavigationParams> {
  readonly #servers: LanguageServers;

  constructor(servers: LanguageServers) {
    super({
      name: 'code_navigation',
      displayName: 'CodeNavigation',
      description: 'Finds definitions, references, symbols and types exactly, or renames a symbol in all files.',
      kind: 'search',
      parameterSchema: schema,
      parameterAliases: { file_path: ['path', 'absolute_path'] },
      timeoutMs: 60_000,
    });
    this.#servers = servers;
  }

  protected override validateToolParamValues(params: NavigationParams): string | null {
    const { action, file_path, line, symbol, new_name } = params;
    if (!isAbsolute(file_path)) return `file_path must be an absolute path, not ${JSON.stringify(file_path)}`;
    if (action !== 'symbols' && symbol === undefined && line === undefined) return `${action} needs symbol or line`;
    return action === 'rename' && (new_name ?? '') === '' ? 'rename needs new_name' : null;
  }

  override getDescription({ action, file_path, symbol, line, new_name }: NavigationParams): string {
    const what = [action, symbol, new_name && `to ${new_name}`].filter((word) => word !== undefined).join(' ');
    return `${what} in ${file_path}${line === undefined ? '' : `:${line}`}`;
  }

  override isReadOnly({ action }: NavigationParams): boolean {
    return action !== 'rename';
  }

  async execute(params: NavigationParams, _signal: AbortSignal, call = directCall()): Promise<string> {
    const { action } = params;
    const answer = await this.#ask(await call.locate(params.file_path), params);
    if (action === 'rename') return rename(renameEdits(answer, this.#servers), call);
    if (action === 'symbols') return outlineText(answer) || 'No symbols found.';
    if (action === 'hover') return hoverText(answer) || 'No hover found.';
    return (await placesText(answer, this.#servers)) || `No ${action} found.`;
  }

  async #ask(path: string, { action, line, symbol, new_name: newName }: NavigationParams): Promise<unknown> {
    const text = await readSmallText(path);
    if (text === undefined) throw new ToolError('file_not_found', `${path} is missing, or too large to navigate in.`);
    const name = action === 'symbols' ? 'documentSymbol' : action;
    const params = {
      ...(action !== 'symbols' && { position: symbolPosition(text, line, symbol) }),
      ...(action === 'references' && { context: { includeDeclaration: true } }),
      ...(action === 'rename' && { newName }),
    };
    const asked = this.#servers.use(path, async (server) => {
      if (!server.offers(`${name}Provider`))
        throw new ToolError('execution_failed', `The language server has no ${action}.`);
      return server.ask(`textDocument/${name}`, path, params);
    });
    if (asked === undefined) throw new ToolError('execution_failed', `No language server is there for ${path}.`);
    return asked.catch((error: unknown) => {
      if (error instanceof ToolError) throw error;
      const reason = oneLine(thrownText(error), 300);
      throw new ToolError('execution_failed', `The language server did not answer: ${reason}`);
    });
  }
}

/** Writes one file after another; a no ends it there, and says what was written before. */
async function rename(files: ReadonlyMap<string, (text: string) => string>, call: ToolCall): Promise<string> {
  const done: string[] = [];
  for (const [path, change] of files) {
    try {
      await call.write(path, change(await call.readText(path)));
      done.push(path);
    } catch (error) {
      if (done.length === 0 || !(error instanceof ToolError)) throw error;
      const message = `${error.message} The rename is incomplete: ${done.join(', ')} already changed, ${path} and what follows did not.`;
      throw new ToolError(error.type, message, { cause: error });
    }
  }
  return `Renamed in ${done.length} ${done.length === 1 ? 'file' : 'files'}: ${done.join(', ')}`;
}

/** Where a name is in a line, counted from 1, or first in the file; where the line begins if there is no name. */
function symbolPosition(text: string, line: number | undefined, symbol: string | undefined) {
  const lines = linesOf(text);
  const [first, end] = line === undefined ? [0, lines.length] : [line - 1, line];
  for (const [index, content] of lines.slice(first, end).entries()) {
    const character = symbol === undefined ? content.search(/\S|$/) : columnOf(content, symbol);
    if (character !== -1) return { line: first + index, character };
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
