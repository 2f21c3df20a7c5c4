import { isAbsolute, resolve } from 'node:path';
import type { XStatic } from 'typebox/schema';
import { ToolError } from '../contract/errors.js';
import { directCall } from '../contract/tool-call.js';
import type { Visibility } from '../files/access/visibility.js';
import { toBytePath } from '../files/byte-path.js';
import { type FoundFiles, findFiles } from '../files/search/find-files.js';
import type { Ripgrep } from '../files/search/ripgrep.js';
import { WalkNotes } from '../files/search/walk-notes.js';
import { isWithin, oddSpelling, type Workspace } from '../files/workspace.js';
import { compileGlob, globExtent, globProblem, globSlip, hasWildcard, splitGlob } from '../text/glob/compile-glob.js';
import { SearchTool } from './search-tool.js';
import type { ToolResult } from './tools.js';

const parameterSchema = {
  type: 'object',
  properties: {
    pattern: { type: 'string', description: 'Such as "**/*.ts" or "src/{a,b}/*"' },
    path: { type: 'string', description: 'Directory; default: the workspace' },
  },
  required: ['pattern'],
} as const;

type Params = XStatic<typeof parameterSchema>;

const maxFiles = 100;
const defaultSearchMs = 60_000;

/** `glob`: files by name, newest first over all that match, in any case of letters. */
export class GlobTool extends SearchTool<Params> {
  readonly #visibility: Visibility;
  readonly #ripgrep: Ripgrep;
  readonly #timeoutMs: number;

  constructor(workspace: Workspace, visibility: Visibility, ripgrep: Ripgrep, { searchMs = defaultSearchMs } = {}) {
    super(
      {
        name: 'glob',
        displayName: 'Glob',
        description: 'Find files by name, newest first. Case-insensitive; ignored files are left out.',
        kind: 'search',
        parameterSchema,
        parameterAliases: { path: ['dir_path', 'directory'], pattern: ['glob'] },
      },
      workspace,
    );
    this.#visibility = visibility;
    this.#ripgrep = ripgrep;
    this.#timeoutMs = searchMs;
  }

  protected override validateToolParamValues({ pattern, path }: Params): string | null {
    const problem = globProblem(pattern) ?? globSlip(pattern);
    if (problem !== undefined) return `pattern: ${problem}`;
    if (splitPattern(pattern).rest.split('/').includes('..'))
      return 'pattern: ".." may only stand in front, as in "../src/*"';
    const odd = path === undefined ? undefined : oddSpelling(path);
    return odd === undefined ? null : `path is refused: ${odd}`;
  }

  override getDescription({ pattern, path }: Params): string {
    return `'${pattern}'${path === undefined ? '' : ` in ${this.workspace.display(path)}`}`;
  }

  override async execute(params: Params, signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    const { rest } = splitPattern(params.pattern);
    const glob = { start: compileGlob(rest, { ignoreCase: true }).start, ...globExtent(rest) };
    const end = performance.now() + this.#timeoutMs;
    const notes = new WalkNotes();
    const places: string[] = [];
    const found: FoundFiles = { files: [], total: 0, isComplete: true };
    for (const { path, kind } of await this.open(params, notes, call)) {
      if (kind === 'file') throw new ToolError('search_path_not_a_directory', `${path} is a file, not a directory.`);
      const next = await findFiles(this.#ripgrep, {
        ...this.#visibility,
        directory: toBytePath(path),
        glob,
        signal,
        notes,
        limit: maxFiles,
        isInside: (real) => this.workspace.contains(real) || isWithin(path, real),
        timeoutMs: Math.max(0, Math.round(end - performance.now())),
      });
      places.push(path);
      found.files.push(...next.files);
      found.total += next.total;
      found.isComplete &&= next.isComplete;
    }
    found.files = found.files.sort((a, b) => b.mtimeMs - a.mtimeMs).slice(0, maxFiles);
    return resultOf(params.pattern, places.join(', '), found, notes);
  }

  protected override places(params: Params): string[] {
    const { base } = splitPattern(params.pattern);
    const roots = super.places(params);
    return base === '' ? roots : [...new Set(roots.map((root) => resolve(root, base)))];
  }
}

/** A pattern that leaves the directory, as absolute ones and those with `..` do, is cut where its wildcards begin. */
function splitPattern(pattern: string): { base: string; rest: string } {
  const parts = splitGlob(pattern);
  const isLeaving = isAbsolute(pattern) || parts.base.split('/').includes('..');
  return isLeaving ? parts : { base: '', rest: pattern };
}

function resultOf(
  pattern: string,
  where: string,
  { files, total, isComplete }: FoundFiles,
  notes: WalkNotes,
): ToolResult {
  const count = `${isComplete ? '' : 'at least '}${total}`;
  const rest = total - files.length;
  const footer = [
    ...(rest > 0 ? [`(${rest} more; narrow the pattern to see them)`] : []),
    ...(isComplete ? [] : ['(The search took too long and is incomplete: search a smaller directory.)']),
    ...(total === 0 && !hasWildcard(pattern) ? [hintFor(pattern.replace(/\/+$/, ''))] : []),
    ...notes.lines(),
  ];
  const nothing = isComplete ? 'No files match' : 'No file found so far that matches';
  const header =
    total === 0
      ? `${nothing} "${pattern}" in ${where}.`
      : `Found ${count} ${total === 1 ? 'file' : 'files'} matching "${pattern}" in ${where}, newest first:`;
  return {
    llmContent: [header, ...files.map(({ path }) => path), ...footer].join('\n'),
    returnDisplay: total === 0 ? 'No files found' : `Found ${count} matching file(s)${rest > 0 ? ' (truncated)' : ''}`,
  };
}

/** Without a wildcard a pattern means one file. */
function hintFor(name: string): string {
  return isAbsolute(name)
    ? `(${name}/** is what is in a directory of that name)`
    : `(**/${name} is the file at any depth, ${name}/** what is in a directory of that name)`;
}
