import type { XStatic } from 'typebox/schema';
import type { PartUnion } from '../contract/content.js';
import { directCall, type ToolCall } from '../contract/tool-call.js';
import { confirmReading, judgedPath, judgePath, pathTarget } from '../files/access/judged-paths.js';
import { contentHash, type SeenFiles } from '../files/access/seen-files.js';
import type { Visibility } from '../files/access/visibility.js';
import { type Gathered, gatherFiles, resolveWanted, type Wanted } from '../files/read/gather-files.js';
import { type ManyRead, readMany } from '../files/read/read-many.js';
import type { Location, Workspace } from '../files/workspace.js';
import { globProblem } from '../text/glob/compile-glob.js';
import { BaseTool, type ToolResult } from './tools.js';

const strings = { type: 'array', items: { type: 'string' } } as const;

const parameterSchema = {
  type: 'object',
  properties: {
    paths: { ...strings, minItems: 1, description: 'Files, directories or globs' },
    include: { ...strings, description: 'More of them' },
    exclude: strings,
    useDefaultExcludes: { type: 'boolean' },
    file_filtering_options: {
      type: 'object',
      properties: { respect_git_ignore: { type: 'boolean' }, respect_qwen_ignore: { type: 'boolean' } },
    },
  },
  required: ['paths'],
} as const;

type Params = XStatic<typeof parameterSchema>;

const defaultMaxChars = 50_000;
const maxMediaBytes = 20_000_000;

/** `read_many_files`: several files in one answer that shares its length fairly. Also the reader behind `@path`. */
export class ReadManyFilesTool extends BaseTool<Params> {
  readonly #workspace: Workspace;
  readonly #seen: SeenFiles;
  readonly #visibility: Visibility;
  readonly #maxChars: number;

  constructor(workspace: Workspace, seen: SeenFiles, visibility: Visibility, maxChars = defaultMaxChars) {
    super({
      name: 'read_many_files',
      displayName: 'ReadManyFiles',
      description: 'Read several files at once, long ones in part.',
      kind: 'read',
      parameterSchema,
      parameterAliases: { paths: ['path', 'files', 'file_paths'] },
      // Names and notes come on top of the text.
      maxOutputChars: maxChars * 2,
    });
    this.#workspace = workspace;
    this.#seen = seen;
    this.#visibility = visibility;
    this.#maxChars = maxChars;
  }

  protected override validateToolParamValues({ paths, include = [], exclude = [] }: Params): string | null {
    if ([...paths, ...include].some((path) => path.trim() === '')) return 'paths must not contain empty strings';
    const problem = exclude.map(globProblem).find((text) => text !== undefined);
    return problem === undefined ? null : `exclude: ${problem}`;
  }

  override getDescription({ paths, include = [] }: Params): string {
    return [...paths, ...include].join(', ').slice(0, 500);
  }

  override async getTargets(params: Params, call = directCall()) {
    return (await this.#judge(params, call)).map((location) => pathTarget(location, 'read'));
  }

  override async shouldConfirmExecute(params: Params, _signal?: AbortSignal, call = directCall()) {
    return confirmReading(this.name, await this.#judge(params, call));
  }

  async execute(params: Params, signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    const wanted = await resolveAll(params, (path) => judgedPath(this.#workspace, call, path));
    const gathered = await this.#gather(params, wanted, signal);
    const limits = { chars: this.#maxChars, mediaBytes: maxMediaBytes };
    const { reads, unread } = await readMany(gathered.files, limits, signal, this.#workspace.editor);
    for (const read of reads) this.#remember(read);
    return present(reads, unread, gathered, this.#workspace);
  }

  async #judge(params: Params, call: ToolCall): Promise<Location[]> {
    const wanted = await resolveAll(params, (path) => judgePath(this.#workspace, call, path));
    return wanted.flatMap((want) =>
      want.type === 'nothing' ? [] : [want.type === 'file' ? want.location : want.directory],
    );
  }

  #gather(params: Params, wanted: readonly Wanted[], signal: AbortSignal): Promise<Gathered> {
    const { respect_git_ignore: git, respect_qwen_ignore: agent } = params.file_filtering_options ?? {};
    const disregard = new Set(this.#visibility.disregard);
    for (const [who, isRespected] of [['git', git] as const, ['agent', agent] as const]) {
      if (isRespected === false) disregard.add(who);
      if (isRespected === true) disregard.delete(who);
    }
    const { exclude = [], useDefaultExcludes = true } = params;
    const visibility = { ...this.#visibility, disregard };
    return gatherFiles(wanted, { ...visibility, workspace: this.#workspace, exclude, useDefaultExcludes, signal });
  }

  #remember(read: ManyRead): void {
    if (!('content' in read) || read.content.type !== 'text' || read.content.slice.whole === undefined) return;
    this.#seen.record(read.path, contentHash(read.content.slice.whole));
  }
}

function resolveAll({ paths, include = [] }: Params, locate: (path: string) => Promise<Location>): Promise<Wanted[]> {
  return Promise.all([...paths, ...include].map((path) => resolveWanted(path, locate)));
}

const maxNamed = 10;

function present(reads: readonly ManyRead[], unread: number, gathered: Gathered, workspace: Workspace): ToolResult {
  const shown = reads.filter((read) => 'content' in read && read.content.type !== 'note');
  const left = [
    ...gathered.skipped.map(({ path, reason }) => `${path}: ${reason}`),
    ...reads.flatMap((read) => reasonLeftOut(read) ?? []),
    ...(unread === 0 ? [] : [`${unread} more files: there is no room for them. Name them, or use read_file.`]),
    ...gathered.notes,
  ];
  const listed = [
    ...left.slice(0, maxNamed * 2),
    ...(left.length > maxNamed * 2 ? [`${left.length - maxNamed * 2} more`] : []),
  ];
  const notRead = listed.length === 0 ? [] : [`Not read:\n${listed.map((line) => `- ${line}\n`).join('')}`];
  const summary = `Read ${shown.length} ${shown.length === 1 ? 'file' : 'files'}`;
  const names = shown.slice(0, maxNamed).map(({ path }) => `- ${workspace.display(path)}\n`);
  const returnDisplay = [`${summary}\n${names.join('')}${shown.length > maxNamed ? '- …\n' : ''}`, ...notRead].join(
    '\n',
  );
  if (shown.length === 0) return { llmContent: ['No file was read.', ...notRead].join('\n'), returnDisplay };
  return { llmContent: [...shown.flatMap(partsOf), ...notRead, '--- End of content ---'], returnDisplay };
}

function reasonLeftOut(read: ManyRead): string | undefined {
  if ('reason' in read) return read.reason;
  return read.content.type === 'note' ? read.content.text : undefined;
}

function partsOf(read: ManyRead): PartUnion[] {
  if (!('content' in read)) return [];
  const header = `--- ${read.path} ---\n\n`;
  switch (read.content.type) {
    case 'text': {
      const { text, first, next, total, whole } = read.content.slice;
      const of = total === undefined ? '' : ` of ${total}`;
      return [`${header}${whole ? '' : `[lines ${first + 1}-${next}${of}; read_file shows the rest]\n`}${text}\n\n`];
    }
    case 'media':
      return [header, read.content.part];
    case 'document':
      return [header, ...read.content.parts];
    case 'note':
      return [];
  }
}
