import { basename, dirname } from 'node:path';
import type { XStatic } from 'typebox/schema';
import { ToolError } from '../contract/errors.js';
import { directCall } from '../contract/tool-call.js';
import type { Visibility } from '../files/access/visibility.js';
import { toBytePath } from '../files/byte-path.js';
import { compileFileGlob, fileGlobProblem } from '../files/search/file-glob.js';
import { binaryMatches } from '../files/search/rg-output.js';
import type { Ripgrep } from '../files/search/ripgrep.js';
import { type FoundText, searchText } from '../files/search/search-text.js';
import { WalkNotes } from '../files/search/walk-notes.js';
import { oddSpelling, type Workspace } from '../files/workspace.js';
import { SearchTool } from './search-tool.js';
import type { ToolResult } from './tools.js';

const defaultLimit = 100;
const maxLimit = 1000;
const maxContext = 50;
const maxChars = 20_000;
const defaultSearchMs = 30_000;

const parameterSchema = {
  type: 'object',
  properties: {
    pattern: { type: 'string', description: 'Regular expression, as in ripgrep' },
    path: { type: 'string', description: 'File or directory; default: the workspace' },
    glob: { type: 'string', description: 'Only files like "*.ts"' },
    limit: { type: 'integer', minimum: 1, maximum: maxLimit, description: 'Matches shown; default 100' },
    case_sensitive: { type: 'boolean', description: 'Default: only if the pattern has capitals' },
    context: { type: 'integer', minimum: 0, maximum: maxContext, description: 'Lines around each match' },
  },
  required: ['pattern'],
} as const;

type Params = XStatic<typeof parameterSchema>;

export interface GrepOptions {
  /** After this long a search returns what it has found. */
  searchMs?: number;
}

/** `grep_search`: lines that match a regular expression, by ripgrep, in its dialect. */
export class GrepTool extends SearchTool<Params> {
  readonly #visibility: Visibility;
  readonly #ripgrep: Ripgrep;
  readonly #timeoutMs: number;

  constructor(
    workspace: Workspace,
    visibility: Visibility,
    ripgrep: Ripgrep,
    { searchMs = defaultSearchMs }: GrepOptions = {},
  ) {
    super(
      {
        name: 'grep_search',
        displayName: 'Grep',
        description: 'Search file contents line by line. Ignored and binary files are left out.',
        kind: 'search',
        parameterSchema,
        parameterAliases: { path: ['dir_path', 'directory', 'file_path'], glob: ['include', 'file_pattern'] },
      },
      workspace,
    );
    this.#visibility = visibility;
    this.#ripgrep = ripgrep;
    this.#timeoutMs = searchMs;
  }

  protected override validateToolParamValues({ pattern, path, glob }: Params): string | null {
    if (pattern === '') return 'pattern is empty';
    if (pattern.length > 10_000) return 'pattern is longer than 10000 characters';
    if (pattern.includes('\0')) return 'pattern contains a NUL character';
    const problem = glob === undefined ? undefined : fileGlobProblem(glob);
    if (problem !== undefined) return `glob: ${problem}`;
    const odd = path === undefined ? undefined : oddSpelling(path);
    return odd === undefined ? null : `path is refused: ${odd}`;
  }

  override getDescription({ pattern, path, glob }: Params): string {
    const where = path === undefined ? '' : ` in ${this.workspace.display(path)}`;
    return `'${pattern}'${where}${glob === undefined ? '' : ` (${glob})`}`;
  }

  override async execute(params: Params, signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    const end = performance.now() + this.#timeoutMs;
    const notes = new WalkNotes();
    const results: { path: string; found: FoundText }[] = [];
    let left = params.limit ?? defaultLimit;
    for (const { wanted, path, kind } of await this.open(params, notes, call)) {
      if (kind === 'file') refuseIfLeftOut(wanted, params.glob);
      else if (params.glob !== undefined && compileFileGlob(params.glob, path).isElsewhere) continue;
      const found = await searchText(this.#ripgrep, {
        ...this.#visibility,
        pattern: params.pattern,
        letters: params.case_sensitive === undefined ? 'smart' : params.case_sensitive ? 'exact' : 'any',
        context: params.context ?? 0,
        path: toBytePath(path),
        kind,
        glob: params.glob,
        limit: left,
        ownState: this.workspace.ownStateIn(path),
        timeoutMs: Math.max(0, Math.round(end - performance.now())),
        signal,
      });
      results.push({ path, found });
      left = Math.max(0, left - found.matches);
    }
    if (results.length === 0) throw outsideError(params, this.places(params));
    return resultOf(params, results, notes);
  }
}

/** A named file is searched or refused, never left out in silence. */
function refuseIfLeftOut(path: string, glob: string | undefined): void {
  if (glob === undefined || compileFileGlob(glob, dirname(path)).start.matches(basename(path))) return;
  throw new ToolError('invalid_tool_params', `The glob ${glob} leaves out ${path}: give path or glob, not both.`);
}

function outsideError({ glob }: Params, places: readonly string[]): ToolError {
  const message = `The glob ${glob} leads out of ${places.join(', ')}: give the directory as path and a glob seen from there.`;
  return new ToolError('invalid_tool_params', message);
}

async function resultOf(
  params: Params,
  results: readonly { path: string; found: FoundText }[],
  notes: WalkNotes,
): Promise<ToolResult> {
  const founds = results.map(({ found }) => found);
  const matches = founds.reduce((sum, found) => sum + found.matches, 0);
  const cuts = founds.map((found) => found.cut);
  const cut = cuts.includes('time') ? 'time' : cuts.find((reason) => reason !== undefined);
  const body = await formatFiles(founds.flatMap((found) => found.files));
  const where = `${results.map(({ path }) => path).join(', ')}${params.glob === undefined ? '' : ` (files: ${params.glob})`}`;
  const count = `${cut === undefined ? '' : 'at least '}${matches} ${matches === 1 ? 'match' : 'matches'}`;
  const rest = matches - body.matches;
  const footer = [
    ...(rest > 0 ? [`(${cut === undefined ? '' : 'at least '}${rest} more; ${advice(params, body)})`] : []),
    ...(rest === 0 && body.cut > 0 ? [`(${body.cut} more lines of context; lower context to see the end)`] : []),
    ...(cut === 'time' ? ['(The search took too long and is incomplete: do not read this as "no more matches".)'] : []),
    ...[...founds.map((found) => found.notes), notes].flatMap((said) => said.lines()),
  ];
  const header =
    matches === 0
      ? `${nothingShown(founds)} "${params.pattern}" in ${where}.`
      : `Found ${count} for "${params.pattern}" in ${where}:`;
  return {
    llmContent: [header, ...body.lines, ...footer].join('\n'),
    returnDisplay: `${matches === 0 ? 'No matches found' : `Found ${count}`}${rest > 0 ? ' (truncated)' : ''}${cut === 'time' ? ' (incomplete)' : ''}`,
  };
}

/** Only a complete search says "No matches". */
function nothingShown(founds: readonly FoundText[]): string {
  if (founds.some(({ cut }) => cut === 'time')) return 'Nothing found so far for';
  return founds.some(({ notes }) => notes.has(binaryMatches)) ? 'Only binary files match' : 'No matches for';
}

function advice({ limit = defaultLimit }: Params, { matches }: Body): string {
  return matches < limit || limit === maxLimit
    ? 'narrow the pattern, path or glob to see them'
    : 'raise limit or narrow the search to see them';
}

interface Body {
  lines: string[];
  /** Matches among the lines. */
  matches: number;
  /** Lines for which there was no room. */
  cut: number;
}

/** Lines under the file they are in, until there is no more room. */
async function formatFiles(files: FoundText['files']): Promise<Body> {
  const body: Body = { lines: [], matches: 0, cut: files.reduce((sum, { lines }) => sum + lines.length, 0) };
  let room = maxChars;
  for (const { path, lines } of files) {
    const hasContext = lines.some(({ isMatch }) => !isMatch);
    let previous = 0;
    for (const { number, text, isMatch } of lines) {
      const heading = previous === 0 ? [path] : number > previous + 1 && hasContext ? ['--'] : [];
      const added = [...heading, `${number}${isMatch ? ':' : '-'} ${await text()}`];
      room -= added.reduce((sum, line) => sum + line.length + 1, 0);
      if (room < 0) return body;
      body.lines.push(...added);
      body.matches += isMatch ? 1 : 0;
      body.cut--;
      previous = number;
    }
  }
  return body;
}
