import { isAbsolute } from 'node:path';
import { ToolError } from '../errors.js';
import { confirmChange, displayChange, hardLinkNote, textsOf } from '../files/change-report.js';
import { type TextChange, viewChange } from '../files/change-view.js';
import type { FileChanges } from '../files/file-changes.js';
import type { Snapshot } from '../files/file-snapshot.js';
import { JudgedPaths } from '../files/judged-paths.js';
import { Pace } from '../files/pace.js';
import { pathTarget } from '../files/path-target.js';
import { applySplices } from '../files/splice.js';
import type { Workspace } from '../files/workspace.js';
import { hasHiddenText } from '../text/visible-text.js';
import type { Confirmation } from './confirmation.js';
import type { Target } from './target.js';
import { BaseTool, type Change, type ToolIdentity, type ToolResult } from './tools.js';

/** What a person was shown for a call that has not run yet. */
interface Proposal {
  /** The hash of the file as it was shown; `null` when there was none. */
  base: string | null;
  /** Absent when the text is too large, or too odd, for an editor. */
  texts: { oldText: string; newText: string } | undefined;
}

/** A change that has been decided on. */
export interface PlannedChange<P, C extends TextChange> {
  params: P;
  path: string;
  /** The file as it is before; `null` when there is none. */
  current: Snapshot | null;
  change: C;
  /** What the model had proposed, when a person changed it. */
  proposed: string | undefined;
  pace: Pace;
}

/**
 * The base of the tools that change one file. A subclass says what would change (`plan`) and what to tell the model
 * (`report`); confirming exactly that, doing exactly what was confirmed and showing it is the same for all.
 */
export abstract class FileChangeTool<P extends { file_path: string }, C extends TextChange> extends BaseTool<P> {
  protected readonly workspace: Workspace;
  protected readonly changes: FileChanges;
  readonly #paths: JudgedPaths;
  // Calls are known by their parameters object.
  readonly #proposals = new WeakMap<object, Proposal>();
  readonly #rewritten = new WeakMap<object, string>();

  constructor(identity: Omit<ToolIdentity, 'kind'>, workspace: Workspace, changes: FileChanges) {
    super({ ...identity, kind: 'edit' });
    this.workspace = workspace;
    this.changes = changes;
    this.#paths = new JudgedPaths(workspace);
  }

  /** What the call would do to this content. Every reason not to do it is thrown. */
  protected abstract plan(current: Snapshot | null, params: P, path: string, pace: Pace): Promise<C>;

  /** The facts for the model. */
  protected abstract report(planned: PlannedChange<P, C>): Promise<string>;

  /** The call that replaces what was shown by a person's own text. */
  protected abstract rewrite(params: P, shown: { oldText: string; newText: string }, content: string): P;

  protected override validateToolParamValues({ file_path }: P): string | null {
    if (!isAbsolute(file_path)) return `file_path must be absolute: ${JSON.stringify(file_path)} is not`;
    return file_path.endsWith('/') ? 'file_path must name a file, not a directory' : null;
  }

  override async getTargets(params: P): Promise<Target[]> {
    const location = await this.#paths.judge(params, params.file_path);
    // Whoever changes a file learns what was in it, so a rule against reading it holds as well.
    const read: Target = { type: 'path', access: 'read', path: location.path, asks: false, hidden: true };
    const targets: Target[] = [pathTarget(location, 'write'), read];
    // What cannot be seen is asked for, whatever a rule or a mode says about the place.
    if ([location.path, ...Object.values(params)].some(isHidden))
      targets.push({ type: 'path', access: 'write', path: location.path, asks: true, hidden: true });
    return targets;
  }

  override async shouldConfirmExecute(params: P, signal: AbortSignal): Promise<Confirmation> {
    const location = await this.#paths.judge(params, params.file_path);
    const current = await this.changes.read(location.path, signal);
    if (current !== null && pathTarget(location, 'read').asks) this.#refuseUnread(current);
    const pace = new Pace(signal);
    const change = await this.plan(current, params, location.path, pace);
    const texts = textsOf(change);
    this.#proposals.set(params, { base: current?.hash ?? null, texts });
    const view = await viewChange(change, this.#names(location.path, current), pace);
    const call = { tool: this.name, title: this.displayName, asked: params.file_path, location, current };
    return confirmChange(this.workspace, call, view, texts);
  }

  override applyChange(params: P, change: Change): P {
    const shown = this.#proposals.get(params)?.texts;
    if (change.type !== 'content' || !shown) throw new Error(`${this.name} offered no text to change`);
    const changed = this.rewrite(params, shown, change.content);
    this.#rewritten.set(changed, this.#rewritten.get(params) ?? shown.newText);
    return changed;
  }

  async execute(params: P, signal: AbortSignal): Promise<ToolResult> {
    const { path } = await this.#paths.recall(params, params.file_path, 'write');
    const approved = this.#proposals.get(params)?.base;
    let result: ToolResult = { llmContent: '', returnDisplay: '' };
    await this.changes.change({
      path,
      tool: this.name,
      signal,
      ...(approved !== undefined && { approved }),
      decide: async (current) => {
        const pace = new Pace(signal);
        const change = await this.plan(current, params, path, pace);
        result = await this.#resultOf({ params, path, current, change, proposed: this.#rewritten.get(params), pace });
        const isSame = current !== null && change.splices.length === 0;
        return isSame ? undefined : applySplices(change.text.bytes, change.splices);
      },
    });
    return result;
  }

  /** Why an edit fails, and whether it does, tells what is in a file, and this one nobody may read unasked. */
  #refuseUnread(current: Snapshot): void {
    if (['all', 'part'].includes(this.changes.knowledgeOf(current))) return;
    const message = `${current.path} cannot be read without approval. Read it first, then change it.`;
    throw new ToolError('edit_requires_prior_read', message);
  }

  async #resultOf(planned: PlannedChange<P, C>): Promise<ToolResult> {
    const { path, current, change, proposed, pace } = planned;
    const view = await viewChange(change, this.#names(path, current), pace);
    const parts = { current, view, texts: textsOf(change), ...(proposed !== undefined && { proposed }) };
    const note = current !== null && current.otherNames > 0 ? ` (${hardLinkNote(current)}.)` : '';
    return { llmContent: (await this.report(planned)) + note, returnDisplay: await displayChange(path, parts) };
  }

  #names(path: string, current: Snapshot | null): { oldName: string | null; newName: string } {
    const name = this.workspace.display(path);
    return { oldName: current && name, newName: name };
  }
}

function isHidden(value: unknown): boolean {
  return typeof value === 'string' && hasHiddenText(value.replaceAll('\r\n', '\n'));
}
