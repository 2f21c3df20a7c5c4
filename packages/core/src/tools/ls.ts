import { stat } from 'node:fs/promises';
import type { XStatic } from 'typebox/schema';
import { ToolError } from '../contract/errors.js';
import { directCall } from '../contract/tool-call.js';
import {
  absolutePathProblem,
  confirmReading,
  judgedPath,
  judgePath,
  pathTarget,
} from '../files/access/judged-paths.js';
import type { Visibility } from '../files/access/visibility.js';
import { systemPath, toBytePath } from '../files/byte-path.js';
import { codeOf } from '../files/fs-error.js';
import type { IgnoredBy } from '../files/ignore/ignore-rules.js';
import { type Listing, listDirectory } from '../files/search/list-directory.js';
import { refuseMoved } from '../files/search/search-place.js';
import { oddSpelling, type Workspace } from '../files/workspace.js';
import { globProblem } from '../text/glob/compile-glob.js';
import { expandBraces } from '../text/glob/expand-braces.js';
import { BaseTool, type ToolResult } from './tools.js';

const parameterSchema = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Absolute path' },
    ignore: { type: 'array', items: { type: 'string' }, description: 'Globs of names to leave out' },
    file_filtering_options: {
      type: 'object',
      properties: { respect_git_ignore: { type: 'boolean' }, respect_qwen_ignore: { type: 'boolean' } },
    },
  },
  required: ['path'],
} as const;

type Params = XStatic<typeof parameterSchema>;

/** A directory with more entries is better searched by name. */
const maxEntries = 300;
/** Every one is tried on every name. */
const maxIgnoreChars = 16_384;

/** `list_directory`: the entries of one directory, directories first. */
export class LSTool extends BaseTool<Params> {
  readonly #workspace: Workspace;
  readonly #visibility: Visibility;

  constructor(workspace: Workspace, visibility: Visibility) {
    super({
      name: 'list_directory',
      displayName: 'ListFiles',
      description: 'List a directory, subdirectories first.',
      kind: 'search',
      parameterSchema,
      parameterAliases: { path: ['absolute_path', 'dir_path', 'directory'] },
    });
    this.#workspace = workspace;
    this.#visibility = visibility;
  }

  protected override validateToolParamValues({ path, ignore = [] }: Params): string | null {
    const relative = absolutePathProblem('path', path, this.#workspace);
    if (relative !== null) return relative;
    const odd = oddSpelling(path);
    if (odd !== undefined) return `path is refused: ${odd}`;
    const problem = ignoreProblem(ignore);
    return problem === undefined ? null : `ignore: ${problem}`;
  }

  override getDescription({ path }: Params): string {
    return this.#workspace.display(path);
  }

  override async getTargets({ path }: Params, call = directCall()) {
    return [pathTarget(await judgePath(this.#workspace, call, path), 'read')];
  }

  override async shouldConfirmExecute({ path }: Params, _signal?: AbortSignal, call = directCall()) {
    return confirmReading(this.name, [await judgePath(this.#workspace, call, path)]);
  }

  override async execute(params: Params, signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    const { path } = await judgedPath(this.#workspace, call, params.path);
    const directory = toBytePath(path);
    try {
      const isDirectory = (await stat(systemPath(directory))).isDirectory();
      if (!isDirectory) throw new ToolError('path_is_not_a_directory', `${path} is not a directory. Use read_file.`);
      await refuseMoved(path);
      const visibility = { ...this.#visibility, disregard: disregarded(this.#visibility.disregard, params) };
      const listing = await listDirectory({
        directory,
        ...visibility,
        ignore: params.ignore ?? [],
        limit: maxEntries,
        signal,
      });
      return resultOf(path, listing);
    } catch (error) {
      if (error instanceof ToolError || codeOf(error) === undefined) throw error;
      throw new ToolError('ls_execution_error', `Cannot list ${path}: ${reasonOf(error)}.`, { cause: error });
    }
  }
}

function ignoreProblem(globs: readonly string[]): string | undefined {
  let left = maxIgnoreChars;
  for (const glob of globs) {
    const problem = globProblem(glob);
    if (problem !== undefined) return problem;
    for (const alternative of expandBraces(glob)) left -= alternative.length;
    if (left < 0) return `the patterns stand for more than ${maxIgnoreChars} characters`;
  }
  return undefined;
}

function disregarded(usual: Iterable<IgnoredBy> = [], { file_filtering_options: options }: Params): Set<IgnoredBy> {
  const disregard = new Set(usual);
  const wishes = [
    ['git', options?.respect_git_ignore],
    ['agent', options?.respect_qwen_ignore],
  ] as const;
  for (const [who, isRespected] of wishes) {
    if (isRespected === false) disregard.add(who);
    if (isRespected === true) disregard.delete(who);
  }
  return disregard;
}

function resultOf(path: string, { lines, total, hidden, notes }: Listing): ToolResult {
  const counts = [
    ...(hidden.git > 0 ? [`${hidden.git} git-ignored`] : []),
    ...(hidden.agent > 0 ? [`${hidden.agent} qwen-ignored`] : []),
    ...(hidden.pattern > 0 ? [`${hidden.pattern} left out by ignore`] : []),
  ];
  const summary = counts.length === 0 ? '' : `(${counts.join(', ')})`;
  const nothing = summary === '' ? `${path} is empty.` : `${path} has nothing to show.`;
  const header = total === 0 ? nothing : `${total} ${total === 1 ? 'entry' : 'entries'} in ${path}:`;
  const rest = total - lines.length;
  // Directories come first, and glob names none.
  const advice = lines.at(-1)?.startsWith('[DIR] ') ? 'leave some out with ignore' : 'use glob with part of the name';
  const more = rest > 0 ? [`(${rest} more; ${advice} to see them)`] : [];
  return {
    llmContent: [header, ...lines, ...more, ...(summary === '' ? [] : [summary]), ...notes.lines()].join('\n'),
    returnDisplay: `${total === 0 ? 'Directory is empty.' : `Listed ${total} item(s).`}${summary && ` ${summary}`}`,
  };
}

function reasonOf(error: unknown): string {
  const reasons: Record<string, string> = {
    ENOENT: 'no such directory',
    ENOTDIR: 'a parent of this path is a file',
    EACCES: 'the operating system denies access',
    EPERM: 'the operating system denies access',
    ENAMETOOLONG: 'the path is too long',
  };
  const code = codeOf(error) ?? String(error);
  return reasons[code] ?? code;
}
