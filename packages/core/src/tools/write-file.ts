import { isAbsolute } from 'node:path';
import type { XStatic } from 'typebox/schema';
import { ToolError } from '../errors.js';
import { confirmChange, displayChange, hardLinkNote, textsOf } from '../files/change-report.js';
import { type TextChange, viewChange } from '../files/change-view.js';
import type { FileChanges } from '../files/file-changes.js';
import type { Snapshot } from '../files/file-snapshot.js';
import { JudgedPaths } from '../files/judged-paths.js';
import { Pace } from '../files/pace.js';
import { pathTarget } from '../files/path-target.js';
import { planWrite } from '../files/plan-write.js';
import { Proposals } from '../files/proposals.js';
import { applySplices } from '../files/splice.js';
import type { Workspace } from '../files/workspace.js';
import type { Confirmation } from './confirmation.js';
import type { Target } from './target.js';
import { BaseTool, type Change, type ToolResult } from './tools.js';

const schema = {
  type: 'object',
  properties: {
    file_path: { type: 'string', description: 'Absolute path' },
    content: { type: 'string', description: 'The whole new content' },
  },
  required: ['file_path', 'content'],
} as const;

type WriteFileParams = XStatic<typeof schema>;

/** Creates a file or replaces all of it. What it replaces, the model must have seen. */
export class WriteFileTool extends BaseTool<WriteFileParams> {
  readonly #workspace: Workspace;
  readonly #changes: FileChanges;
  readonly #paths: JudgedPaths;
  readonly #proposals = new Proposals();

  constructor(workspace: Workspace, changes: FileChanges) {
    super({
      name: 'write_file',
      displayName: 'WriteFile',
      description: 'Creates or overwrites a file. Read an existing file first; prefer edit for changes.',
      kind: 'edit',
      parameterSchema: schema,
    });
    this.#workspace = workspace;
    this.#changes = changes;
    this.#paths = new JudgedPaths(workspace);
  }

  protected override validateToolParamValues({ file_path }: WriteFileParams): string | null {
    if (!isAbsolute(file_path)) return `file_path must be absolute: ${JSON.stringify(file_path)} is not`;
    return file_path.endsWith('/') ? 'file_path must name a file, not a directory' : null;
  }

  override getDescription({ file_path }: WriteFileParams): string {
    return `Write ${this.#workspace.display(file_path)}`;
  }

  override async getTargets(params: WriteFileParams): Promise<Target[]> {
    return [pathTarget(await this.#paths.judge(params, params.file_path), 'write')];
  }

  override async shouldConfirmExecute(params: WriteFileParams, signal: AbortSignal): Promise<Confirmation> {
    const location = await this.#paths.judge(params, params.file_path);
    const current = await this.#changes.read(location.path, signal);
    const pace = new Pace(signal);
    const plan = await this.#plan(current, params, pace);
    const texts = textsOf(plan);
    this.#proposals.show(params, { base: current?.hash ?? null, ...texts });
    const view = await viewChange(plan, this.#names(location.path, current), pace);
    const change = { tool: this.name, title: 'Confirm Write', asked: params.file_path, location, current };
    return confirmChange(this.#workspace, change, view, texts);
  }

  override applyChange(params: WriteFileParams, change: Change): WriteFileParams {
    if (change.type !== 'content') throw new Error('write_file offers no choices');
    const changed = { file_path: params.file_path, content: change.content };
    this.#proposals.rewrite(changed, this.#proposals.rewritten(params) ?? params.content);
    return changed;
  }

  async execute(params: WriteFileParams, signal: AbortSignal): Promise<ToolResult> {
    const { path } = await this.#paths.recall(params, params.file_path, 'write');
    const approved = this.#proposals.shown(params)?.base;
    let result: ToolResult = { llmContent: '', returnDisplay: '' };
    await this.#changes.change({
      path,
      tool: this.name,
      signal,
      ...(approved !== undefined && { approved }),
      decide: async (current) => {
        const pace = new Pace(signal);
        const plan = await this.#plan(current, params, pace);
        result = await this.#report(plan, current, params, path, pace);
        const isSame = current !== null && plan.splices.length === 0;
        return isSame ? undefined : applySplices(plan.text.bytes, plan.splices);
      },
    });
    return result;
  }

  #plan(current: Snapshot | null, { content }: WriteFileParams, pace: Pace): Promise<TextChange> {
    if (current !== null) this.#refuseUnseen(current);
    return planWrite(current, content, pace);
  }

  /** An empty file has nothing that could be lost unseen. */
  #refuseUnseen(current: Snapshot): void {
    if (current.bytes.length === 0) return;
    const { path } = current;
    switch (this.#changes.knowledgeOf(current)) {
      case 'all':
        return;
      case 'part':
        throw new ToolError(
          'edit_requires_prior_read',
          `You have read only a part of ${path}. Read the rest, or use edit.`,
        );
      case 'outdated':
        throw new ToolError(
          'file_changed_since_read',
          `${path} has changed since you read it. Read it again, then write.`,
        );
      case 'none':
        throw new ToolError(
          'edit_requires_prior_read',
          `${path} exists and you have not read it. Read it, or use edit.`,
        );
    }
  }

  #names(path: string, current: Snapshot | null): { oldName: string | null; newName: string } {
    const name = this.#workspace.display(path);
    return { oldName: current && name, newName: name };
  }

  async #report(
    plan: TextChange,
    current: Snapshot | null,
    params: WriteFileParams,
    path: string,
    pace: Pace,
  ): Promise<ToolResult> {
    const view = await viewChange(plan, this.#names(path, current), pace);
    const proposed = this.#proposals.rewritten(params);
    const returnDisplay = await displayChange(path, {
      current,
      view,
      texts: textsOf(plan),
      ...(proposed !== undefined && { proposed }),
    });
    return { llmContent: [summary(plan, current, path), ...notes(params, current, proposed)].join(' '), returnDisplay };
  }
}

function summary({ splices }: TextChange, current: Snapshot | null, path: string): string {
  if (current === null) return `Created ${path}.`;
  return splices.length === 0 ? `${path} already has this content; nothing was written.` : `Overwrote ${path}.`;
}

function notes({ content }: WriteFileParams, current: Snapshot | null, proposed: string | undefined): string[] {
  const all: string[] = [];
  if (current !== null && current.otherNames > 0) all.push(`${hardLinkNote(current)}.`);
  if (proposed !== undefined)
    all.push(`The person changed your proposal before approving it; the file now contains:\n---\n${content}`);
  return all;
}
