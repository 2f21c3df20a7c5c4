import type { XStatic } from 'typebox/schema';
import { ToolError } from '../contract/errors.js';
import { directCall } from '../contract/tool-call.js';
import { confirmReading, judgedPath, judgePath, pathTarget } from '../files/access/judged-paths.js';
import type { SeenFiles } from '../files/access/seen-files.js';
import { hiddenReason, isHiddenPlace, type Visibility } from '../files/access/visibility.js';
import { withCurrentFile } from '../files/editor-files.js';
import { codecFor, detectEncoding } from '../files/read/text-encoding.js';
import type { Workspace } from '../files/workspace.js';
import { snapshotOf } from '../files/write/file-snapshot.js';
import { BaseTool } from './tools.js';

const parameterSchema = {
  type: 'object',
  properties: { absolute_path: { type: 'string' } },
  required: ['absolute_path'],
} as const;

type Params = XStatic<typeof parameterSchema>;

/** A file as code asks for it: its real path, or all of its text. */
export type ReaderUse = 'path' | 'text';

/**
 * Reads for the code of another tool, not for a model. To rules, hooks and people it is `read_file`; what it finds goes to
 * `found`, whole, and not into its result. No registry contains it.
 */
export class TextReader extends BaseTool<Params> {
  readonly #parts: { workspace: Workspace; visibility: Visibility; seen: SeenFiles };
  readonly #use: ReaderUse;
  readonly #found: (result: string) => void;

  constructor(
    parts: { workspace: Workspace; visibility: Visibility; seen: SeenFiles },
    use: ReaderUse,
    found: (result: string) => void,
  ) {
    super({ name: 'read_file', displayName: 'ReadFile', description: '', kind: 'read', parameterSchema });
    this.#parts = parts;
    this.#use = use;
    this.#found = found;
  }

  override getDescription({ absolute_path: path }: Params): string {
    return this.#parts.workspace.display(path);
  }

  override async getTargets(params: Params, call = directCall()) {
    return [pathTarget(await judgePath(this.#parts.workspace, call, params.absolute_path), 'read')];
  }

  override async shouldConfirmExecute(params: Params, _signal?: AbortSignal, call = directCall()) {
    return confirmReading(this.name, [await judgePath(this.#parts.workspace, call, params.absolute_path)]);
  }

  async execute(params: Params, signal: AbortSignal, call = directCall()): Promise<string> {
    const { workspace, visibility } = this.#parts;
    const place = await judgedPath(workspace, call, params.absolute_path);
    const { path } = place;
    if (isHiddenPlace(place, visibility))
      throw new ToolError('permission_denied', `${path} is not read: ${hiddenReason}.`);
    this.#found(this.#use === 'path' ? path : await this.#read(path, signal));
    return `${this.#use === 'path' ? 'Found' : 'Read'} ${workspace.display(path)}.`;
  }

  #read(path: string, signal: AbortSignal): Promise<string> {
    return withCurrentFile(path, this.#parts.workspace.editor, signal, async (file) => {
      if (file.stat.size > maxTextBytes)
        throw new ToolError(
          'file_too_large',
          `${path} has ${file.stat.size} bytes; a tool reads at most ${maxTextBytes}.`,
        );
      const snapshot = await snapshotOf(file, signal);
      const encoding = await detectEncoding(snapshot.bytes);
      if (encoding === undefined) throw new ToolError('read_content_failure', `${path} is a binary file, not text.`);
      this.#parts.seen.record(path, snapshot.hash);
      return (await codecFor(encoding)).decode(snapshot.bytes.subarray(encoding.bom.length));
    });
  }
}

/** Text in memory takes up to twice as much. */
const maxTextBytes = 32 << 20;
