import { isAbsolute } from 'node:path';
import type { XStatic } from 'typebox/schema';
import { confirmChange, displayChange, hardLinkNote, textsOf } from '../files/change-report.js';
import { snippetOf, totalLines, viewChange } from '../files/change-view.js';
import type { FileChanges } from '../files/file-changes.js';
import type { Snapshot } from '../files/file-snapshot.js';
import { JudgedPaths } from '../files/judged-paths.js';
import { Pace } from '../files/pace.js';
import { pathTarget } from '../files/path-target.js';
import { type EditPlan, planEdit } from '../files/plan-edit.js';
import { Proposals } from '../files/proposals.js';
import { applySplices } from '../files/splice.js';
import type { Workspace } from '../files/workspace.js';
import type { Confirmation } from './confirmation.js';
import type { FileDiff } from './display.js';
import type { Target } from './target.js';
import { BaseTool, type Change, type ToolResult } from './tools.js';

const schema = {
  type: 'object',
  properties: {
    file_path: { type: 'string', description: 'Absolute path' },
    old_string: { type: 'string', description: 'Exact text to replace, unique in the file; empty to create a file' },
    new_string: { type: 'string' },
    replace_all: { type: 'boolean', description: 'Replace every occurrence' },
  },
  required: ['file_path', 'old_string', 'new_string'],
} as const;

type EditParams = XStatic<typeof schema>;

/** Replaces text in a file; whatever is outside the replaced spans keeps its bytes. */
export class EditTool extends BaseTool<EditParams> {
  readonly #workspace: Workspace;
  readonly #changes: FileChanges;
  readonly #paths: JudgedPaths;
  readonly #proposals = new Proposals();

  constructor(workspace: Workspace, changes: FileChanges) {
    super({
      name: 'edit',
      displayName: 'Edit',
      description: 'Replaces text in a file. Include enough surrounding lines in old_string to make it unique.',
      kind: 'edit',
      parameterSchema: schema,
    });
    this.#workspace = workspace;
    this.#changes = changes;
    this.#paths = new JudgedPaths(workspace);
  }

  protected override validateToolParamValues({ file_path }: EditParams): string | null {
    if (!isAbsolute(file_path)) return `file_path must be absolute: ${JSON.stringify(file_path)} is not`;
    return file_path.endsWith('/') ? 'file_path must name a file, not a directory' : null;
  }

  override getDescription({ file_path, old_string, new_string }: EditParams): string {
    const path = this.#workspace.display(file_path);
    if (old_string === '') return `Create ${path}`;
    return `${path}: ${short(old_string)} => ${short(new_string)}`;
  }

  override async getTargets(params: EditParams): Promise<Target[]> {
    return [pathTarget(await this.#paths.judge(params, params.file_path), 'write')];
  }

  override async shouldConfirmExecute(params: EditParams, signal: AbortSignal): Promise<Confirmation> {
    const location = await this.#paths.judge(params, params.file_path);
    const current = await this.#changes.read(location.path, signal);
    const pace = new Pace(signal);
    const plan = await this.#plan(current, params, location.path, pace);
    const texts = textsOf(plan);
    this.#proposals.show(params, { base: current?.hash ?? null, ...texts });
    const view = await viewChange(plan, this.#names(location.path, current), pace);
    const change = { tool: this.name, title: 'Confirm Edit', asked: params.file_path, location, current };
    return confirmChange(this.#workspace, change, view, texts);
  }

  /** The person rewrote the whole file, so the changed call replaces the whole text that was shown. */
  override applyChange(params: EditParams, change: Change): EditParams {
    const shown = this.#proposals.shown(params);
    if (change.type !== 'content' || shown?.oldText === undefined || shown.newText === undefined)
      throw new Error('edit offered no text to change');
    const changed = { file_path: params.file_path, old_string: shown.oldText, new_string: change.content };
    this.#proposals.rewrite(changed, this.#proposals.rewritten(params) ?? shown.newText);
    return changed;
  }

  async execute(params: EditParams, signal: AbortSignal): Promise<ToolResult> {
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
        const plan = await this.#plan(current, params, path, pace);
        result = await this.#report(plan, current, params, path, pace);
        return applySplices(plan.text.bytes, plan.splices);
      },
    });
    return result;
  }

  #plan(current: Snapshot | null, params: EditParams, path: string, pace: Pace): Promise<EditPlan> {
    const { old_string: oldText, new_string: newText, replace_all: replaceAll = false } = params;
    return planEdit(current, { path, oldText, newText, replaceAll }, pace);
  }

  #names(path: string, current: Snapshot | null): { oldName: string | null; newName: string } {
    const name = this.#workspace.display(path);
    return { oldName: current && name, newName: name };
  }

  async #report(
    plan: EditPlan,
    current: Snapshot | null,
    params: EditParams,
    path: string,
    pace: Pace,
  ): Promise<ToolResult> {
    // In the order of their places in the file, so that its lines are counted once.
    const { firstLine, lastLine, text } = await snippetOf(plan, pace);
    const view = await viewChange(plan, this.#names(path, current), pace);
    const total = await totalLines(plan, pace);
    const proposed = this.#proposals.rewritten(params);
    const returnDisplay: FileDiff = await displayChange(path, {
      current,
      view,
      texts: textsOf(plan),
      ...(proposed !== undefined && { proposed }),
    });
    const where = total === 0 ? 'It is empty.' : `Showing lines ${firstLine}-${lastLine} of ${total}:`;
    const sentences = [summary(plan, current, path), ...notes(plan, current, proposed), where];
    return { llmContent: `${sentences.join(' ')}\n---\n${text}`, returnDisplay };
  }
}

function summary({ splices }: EditPlan, current: Snapshot | null, path: string): string {
  if (current === null) return `Created ${path}.`;
  return splices.length === 1 ? `Edited ${path}.` : `Edited ${path}: ${splices.length} occurrences replaced.`;
}

function notes({ relaxed }: EditPlan, current: Snapshot | null, proposed: string | undefined): string[] {
  const all: string[] = [];
  if (relaxed.length > 0) all.push(`old_string was found apart from ${relaxed.join(' and ')}.`);
  if (proposed !== undefined)
    all.push('The person changed your proposal before approving it; the file has their text.');
  if (current !== null && current.otherNames > 0) all.push(`${hardLinkNote(current)}.`);
  return all;
}

function short(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 30 || line !== text ? `${line.slice(0, 30)}…` : line;
}
