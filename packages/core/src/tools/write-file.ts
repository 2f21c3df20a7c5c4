import type { XStatic } from 'typebox/schema';
import type { Yielder } from '../async/yielder.js';
import { ToolError } from '../contract/errors.js';
import type { TextChange } from '../files/edit/change-view.js';
import { planWrite } from '../files/edit/plan-write.js';
import type { Workspace } from '../files/workspace.js';
import type { FileChanges } from '../files/write/file-changes.js';
import type { Snapshot } from '../files/write/file-snapshot.js';
import { type ChangeChecks, FileChangeTool, type PlannedChange } from './file-change-tool.js';

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
export class WriteFileTool extends FileChangeTool<WriteFileParams, TextChange> {
  constructor(workspace: Workspace, changes: FileChanges, checks?: ChangeChecks) {
    const identity = {
      name: 'write_file',
      displayName: 'WriteFile',
      description: 'Creates or overwrites a file. Read an existing file first; prefer edit for changes.',
      parameterSchema: schema,
    };
    super(identity, { workspace, changes, checks });
  }

  override getDescription({ file_path }: WriteFileParams): string {
    return `Write ${this.workspace.display(file_path)}`;
  }

  protected override plan(
    current: Snapshot | null,
    { content }: WriteFileParams,
    _path: string,
    yielder: Yielder,
  ): Promise<TextChange> {
    if (current !== null) this.#refuseUnseen(current);
    return planWrite(current, content, yielder);
  }

  protected override rewrite({ file_path }: WriteFileParams, _shown: unknown, content: string): WriteFileParams {
    return { file_path, content };
  }

  protected override async report(planned: PlannedChange<WriteFileParams, TextChange>): Promise<string> {
    const { params, proposed } = planned;
    if (proposed === undefined) return summary(planned);
    return `${summary(planned)} The person changed your proposal before approving it; the file now contains:\n---\n${params.content}`;
  }

  /** An empty file has nothing that could be lost unseen. */
  #refuseUnseen(current: Snapshot): void {
    if (current.bytes.length === 0) return;
    const { path } = current;
    switch (this.changes.knowledgeOf(current)) {
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
}

function summary({ current, change, path }: PlannedChange<WriteFileParams, TextChange>): string {
  if (current === null) return `Created ${path}.`;
  return change.splices.length === 0 ? `${path} already has this content; nothing was written.` : `Overwrote ${path}.`;
}
