import { join } from 'node:path';
import { BaseTool, type Confirmation, type Target, type ToolCall, type ToolResult } from '@lathe/core';
import { directCall, hiddenPlaces, judgePath, pathTarget } from '@lathe/core/host';
import type { Workspace } from '@lathe/core/tools';

/** The changes of a worktree, ready to be made in the original. */
export interface PreparedChanges {
  /** Who made them, for the question. */
  by: string;
  /** The directory that the paths are relative to. */
  root: string;
  /** `guarded`: why a person must agree to the change, besides what its name says. */
  files: readonly { path: string; guarded?: string }[];
  /** A unified diff of all of them. */
  diff: string;
  /** Makes the changes, and returns the paths that were left because they changed in the meantime. */
  apply(signal: AbortSignal): Promise<string[]>;
}

const schema = { type: 'object', properties: {}, additionalProperties: false } as const;
/** A person reads no more of it. */
const maxDiff = 200_000;

/**
 * Brings what was done in a worktree back: one question with the whole diff, under the rules for writing each of the
 * files. No model calls it; it exists for one set of changes.
 */
export class ApplyChangesTool extends BaseTool<object> {
  static readonly toolName = 'apply_changes';
  readonly #workspace: Workspace;
  readonly #changes: PreparedChanges;

  constructor(workspace: Workspace, changes: PreparedChanges) {
    super({
      name: ApplyChangesTool.toolName,
      displayName: 'Apply',
      description: 'Applies the changes of a worktree.',
      kind: 'edit',
      parameterSchema: schema,
    });
    this.#workspace = workspace;
    this.#changes = changes;
  }

  override getDescription(): string {
    return `Apply ${countFiles(this.#changes.files)} of ${this.#changes.by}`;
  }

  override async getTargets(_: object, call: ToolCall = directCall()): Promise<Target[]> {
    const { root, files, diff } = this.#changes;
    const targets: Target[] = await Promise.all(
      files.map(async ({ path, guarded }) => {
        const location = await judgePath(this.#workspace, call, join(root, path));
        return pathTarget({ ...(guarded !== undefined && { guarded }), ...location }, 'write');
      }),
    );
    const [first] = targets;
    // What cannot be seen is asked for, whatever a rule or a mode says about the place.
    if (first && hiddenPlaces(addedLines(diff)).length > 0)
      targets.push({ ...first, asks: true, hidden: true, why: 'it adds invisible or control characters' });
    return targets;
  }

  override async shouldConfirmExecute(): Promise<Confirmation> {
    const { by, root, files, diff } = this.#changes;
    const [only, ...others] = files.map(({ path }) => path);
    const isOne = only !== undefined && others.length === 0;
    const isCut = diff.length > maxDiff;
    return {
      type: 'edit',
      title: `Apply the changes of ${by}?`,
      fileName: isOne ? only : countFiles(files),
      filePath: isOne ? join(root, only) : root,
      fileDiff: diff.slice(0, maxDiff),
      ...(isCut && { warnings: [`The diff is long: only the first ${maxDiff} characters are shown.`] }),
    };
  }

  async execute(_: object, signal: AbortSignal): Promise<ToolResult> {
    const left = await this.#changes.apply(signal);
    const done = this.#changes.files.flatMap(({ path }) => (left.includes(path) ? [] : [path]));
    const text = `Applied: ${done.join(', ') || 'nothing'}.`;
    const message = `Changed in the meantime, so left as they are: ${left.join(', ')}.`;
    const error = left.length > 0 && { error: { type: 'file_changed_since_read' as const, message } };
    return { llmContent: text, returnDisplay: text, ...error };
  }
}

function countFiles({ length }: readonly unknown[]): string {
  return length === 1 ? '1 file' : `${length} files`;
}

function addedLines(diff: string): string {
  const lines = diff.split(/\r?\n/);
  return lines.filter((line) => line.startsWith('+')).join('\n');
}
