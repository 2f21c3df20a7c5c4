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
import { contentHash, type SeenFiles } from '../files/access/seen-files.js';
import { hiddenReason, isHiddenPlace, type Visibility } from '../files/access/visibility.js';
import { withCurrentFile } from '../files/editor-files.js';
import { hasChanged, type ReadableFile, readWhole } from '../files/open-file.js';
import { parsePages } from '../files/read/pdf-text.js';
import { readContent } from '../files/read/read-content.js';
import type { TextSlice } from '../files/read/read-text.js';
import { similarFiles } from '../files/search/similar-files.js';
import { oddSpelling, type Workspace } from '../files/workspace.js';
import { BaseTool, type ToolResult } from './tools.js';

const parameterSchema = {
  type: 'object',
  properties: {
    absolute_path: { type: 'string' },
    offset: { type: 'integer', minimum: 0, description: 'First line, from 0' },
    limit: { type: 'integer', minimum: 1, description: 'Lines' },
    pages: { type: 'string', description: 'Of a PDF, as text: "1-10"' },
  },
  required: ['absolute_path'],
} as const;

type Params = XStatic<typeof parameterSchema>;

/** How much of a file one call returns. */
export interface ReadLimits {
  /** Lines of one read when the call names no limit. */
  lines: number;
  /** Characters of one read. */
  chars: number;
}

const defaultReadLimits: ReadLimits = { lines: 1000, chars: 25_000 };

/** `read_file`: text as it is, a range of lines at a time; images, sound, PDF and notebooks as what they are. */
export class ReadFileTool extends BaseTool<Params> {
  readonly #workspace: Workspace;
  readonly #seen: SeenFiles;
  readonly #visibility: Visibility;
  readonly #limits: ReadLimits;

  constructor(workspace: Workspace, seen: SeenFiles, visibility: Visibility, limits: ReadLimits = defaultReadLimits) {
    super({
      name: 'read_file',
      displayName: 'ReadFile',
      description: 'Read a file: text (long ones in parts), image, audio, PDF, notebook.',
      kind: 'read',
      parameterSchema,
      parameterAliases: { absolute_path: ['file_path', 'path', 'filePath', 'filename'] },
      // The limits above keep the text short; what is added around it must not make it spill.
      maxOutputChars: limits.chars + 2000,
    });
    this.#workspace = workspace;
    this.#seen = seen;
    this.#visibility = visibility;
    this.#limits = limits;
  }

  protected override validateToolParamValues({ absolute_path: path, offset, limit, pages }: Params): string | null {
    const problem = absolutePathProblem('absolute_path', path, this.#workspace);
    if (problem !== null) return problem;
    const odd = oddSpelling(path);
    if (odd !== undefined) return `absolute_path is refused: ${odd}`;
    if (pages !== undefined && parsePages(pages) === undefined)
      return 'pages must look like "3" or "1-10", at most 20 pages';
    if (offset !== undefined && !Number.isSafeInteger(offset)) return 'offset is too large';
    return limit !== undefined && !Number.isSafeInteger(limit) ? 'limit is too large' : null;
  }

  override getDescription({ absolute_path: path, offset, limit, pages }: Params): string {
    const range =
      pages !== undefined
        ? ` (pages ${pages})`
        : offset !== undefined || limit !== undefined
          ? ` (from line ${(offset ?? 0) + 1}${limit === undefined ? '' : `, ${limit} lines`})`
          : '';
    return `${this.#workspace.display(path)}${range}`;
  }

  override async getTargets(params: Params, call = directCall()) {
    return [pathTarget(await judgePath(this.#workspace, call, params.absolute_path), 'read')];
  }

  override async shouldConfirmExecute(params: Params, _signal?: AbortSignal, call = directCall()) {
    return confirmReading(this.name, [await judgePath(this.#workspace, call, params.absolute_path)]);
  }

  async execute(params: Params, signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    const place = await judgedPath(this.#workspace, call, params.absolute_path);
    const { path, inside } = place;
    signal.throwIfAborted();
    if (isHiddenPlace(place, this.#visibility))
      throw new ToolError('permission_denied', `${path} is not read: ${hiddenReason}.`);
    const reading = withCurrentFile(path, this.#workspace.editor, signal, async (file) => {
      const request = { ...params, maxLines: this.#limits.lines, maxChars: this.#limits.chars };
      const content = await readContent(file, request, signal);
      switch (content.type) {
        case 'text':
          return this.#present(content.slice, file);
        case 'media':
          return {
            llmContent: content.part,
            returnDisplay: `Read ${content.kind} file: ${this.#workspace.display(path)}`,
          };
        case 'document':
          return { llmContent: content.parts, returnDisplay: `Read ${content.kind}: ${this.#workspace.display(path)}` };
        case 'note':
          return { llmContent: content.text, returnDisplay: content.text };
      }
    });
    return reading.catch((error: unknown) => {
      throw inside ? this.#withHint(error, path) : error;
    });
  }

  /** Suggests what the model may have meant, without revealing names outside the workspace. */
  #withHint(error: unknown, path: string): unknown {
    if (!(error instanceof ToolError) || error.type !== 'file_not_found') return error;
    const similar = similarFiles(path, this.#visibility);
    if (similar.length === 0) return error;
    const message = `${path}: no such file. Did you mean ${similar.join(' or ')}?`;
    return new ToolError('file_not_found', message, { cause: error });
  }

  async #present(slice: TextSlice, file: ReadableFile): Promise<ToolResult> {
    await this.#remember(slice, file);
    if (slice.whole !== undefined) return { llmContent: slice.text, returnDisplay: '' };
    const range = `lines ${slice.first + 1}-${slice.next} of ${slice.total ?? `a file of ${file.stat.size} bytes`}`;
    const gap = slice.text.endsWith('\n') ? '' : '\n';
    const notes = [
      ...(slice.next === slice.total ? [] : [`More lines follow: continue with offset ${slice.next}.`]),
      ...(hasChanged(file) ? ['The file changed while it was read.'] : []),
    ];
    return {
      llmContent: `Showing ${range}${slice.total === undefined ? '' : ' total lines'}.\n\n---\n\n${slice.text}${
        notes.length === 0 ? '' : `${gap}[${notes.join(' ')}]`
      }`,
      returnDisplay: `Read ${range} from ${this.#workspace.display(file.path)}${slice.isShortened ? ' (truncated)' : ''}`,
    };
  }

  /** Notes what the model now knows of the file. A cut line is not known, and nobody reads megabytes in parts. */
  async #remember(slice: TextSlice, { path, fd, stat }: ReadableFile): Promise<void> {
    if (slice.whole !== undefined) return this.#seen.record(path, contentHash(slice.whole));
    if (slice.isCut || slice.total === undefined || stat.size > maxRemembered) return;
    this.#seen.recordLines(path, contentHash(await readWhole(fd, stat.size)), slice, slice.total);
  }
}

const maxRemembered = 1_000_000n;
