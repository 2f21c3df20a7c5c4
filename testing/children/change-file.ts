/** One call of edit or write_file, when told to, and how it went. Its file system calls all happen on the thread it names. */
import { readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { SeenFiles } from '../../packages/core/src/files/access/seen-files.js';
import { LatheHome } from '../../packages/core/src/files/lathe-home.js';
import { Journal } from '../../packages/core/src/files/undo/journal.js';
import { Workspace } from '../../packages/core/src/files/workspace.js';
import { FileChanges } from '../../packages/core/src/files/write/file-changes.js';
import { FileLocks } from '../../packages/core/src/files/write/file-lock.js';
import { EditTool } from '../../packages/core/src/tools/edit.js';
import { whenTold } from './when-told.js';

interface Task {
  root: string;
  home: string;
  /** Each made in turn. */
  edits: { file_path: string; old_string: string; new_string: string; replace_all?: boolean }[];
}

const task = JSON.parse(process.argv[2] ?? '') as Task;

async function main(): Promise<void> {
  const threads = new Set(readdirSync('/proc/self/task'));
  await stat('/');
  const thread = readdirSync('/proc/self/task').find((id) => !threads.has(id));
  const home = new LatheHome(task.home);
  const changes = new FileChanges({ locks: new FileLocks(home), journal: new Journal(home), seen: new SeenFiles() });
  const tool = new EditTool(await Workspace.open(task.root), changes);
  const edit = async () => {
    for (const params of task.edits) await tool.execute(params, new AbortController().signal);
  };
  await whenTold(Number(thread), edit, 'written');
}

void main();
