import type { XStatic } from 'typebox/schema';
import type { Yielder } from '../async/yielder.js';
import { snippetOf, totalLines } from '../files/edit/change-view.js';
import { type EditPlan, planEdit } from '../files/edit/plan-edit.js';
import type { Workspace } from '../files/workspace.js';
import type { FileChanges } from '../files/write/file-changes.js';
import type { Snapshot } from '../files/write/file-snapshot.js';
import { type ChangeChecks, FileChangeTool, type PlannedChange } from './file-change-tool.js';

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
export class EditTool extends FileChangeTool<EditParams, EditPlan> {
  constructor(workspace: Workspace, changes: FileChanges, checks?: ChangeChecks) {
    const identity = {
      name: 'edit',
      displayName: 'Edit',
      description: 'Replaces text in a file. Include enough surrounding lines in old_string to make it unique.',
      parameterSchema: schema,
    };
    super(identity, { workspace, changes, checks });
  }

  override getDescription({ file_path, old_string, new_string }: EditParams): string {
    const path = this.workspace.display(file_path);
    return old_string === '' ? `Create ${path}` : `${path}: ${short(old_string)} => ${short(new_string)}`;
  }

  protected override plan(
    current: Snapshot | null,
    params: EditParams,
    path: string,
    yielder: Yielder,
  ): Promise<EditPlan> {
    const { old_string: oldText, new_string: newText, replace_all: replaceAll = false } = params;
    return planEdit(current, { path, oldText, newText, replaceAll }, yielder);
  }

  /** A person rewrites the whole file, so the changed call replaces the whole text that was shown. */
  protected override rewrite({ file_path }: EditParams, shown: { oldText: string }, content: string): EditParams {
    return { file_path, old_string: shown.oldText, new_string: content };
  }

  protected override async report(planned: PlannedChange<EditParams, EditPlan>): Promise<string> {
    const { change, yielder } = planned;
    const { firstLine, lastLine, text } = await snippetOf(change, yielder);
    const total = await totalLines(change, yielder);
    const where = total === 0 ? 'It is empty.' : `Showing lines ${firstLine}-${lastLine} of ${total}:`;
    return `${[...sentences(planned), where].join(' ')}\n---\n${text}`;
  }
}

function sentences({ current, change, path, proposed }: PlannedChange<EditParams, EditPlan>): string[] {
  const { splices, relaxed } = change;
  const all = [current === null ? `Created ${path}.` : `Edited ${path}.`];
  if (splices.length > 1) all.push(`${splices.length} occurrences were replaced.`);
  if (relaxed.length > 0) all.push(`old_string was found apart from ${relaxed.join(' and ')}.`);
  if (proposed !== undefined)
    all.push('The person changed your proposal before approving it; the file has their text.');
  return all;
}

function short(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 30 || line !== text ? `${line.slice(0, 30)}…` : line;
}
