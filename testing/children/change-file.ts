/** One call of edit or write_file, when told to, and how it went. Its file system calls all happen on the thread it names. */
import { readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { ToolError } from '../../packages/core/src/errors.js';
import { FileChanges } from '../../packages/core/src/files/file-changes.js';
import { FileLocks } from '../../packages/core/src/files/file-lock.js';
import { Journal } from '../../packages/core/src/files/journal.js';
import { LatheHome } from '../../packages/core/src/files/lathe-home.js';
import { SeenFiles } from '../../packages/core/src/files/seen-files.js';
import { Workspace } from '../../packages/core/src/files/workspace.js';
import { EditTool } from '../../packages/core/src/tools/edit.js';

interface Task {
  root: string;
  home: string;
  /** Each made in turn. */
  edits: { file_path: string; old_string: string; new_string: string; replace_all?: boolean }[];
}

const task = JSON.parse(process.argv[2] ?? '') as Task;
const tell = (message: unknown) => process.stdout.write(`${JSON.stringify(message)}\n`);

async function main(): Promise<void> {
  const threads = new Set(readdirSync('/proc/self/task'));
  await stat('/');
  const thread = readdirSync('/proc/self/task').find((id) => !threads.has(id));
  const home = new LatheHome(task.home);
  const changes = new FileChanges({ locks: new FileLocks(home), journal: new Journal(home), seen: new SeenFiles() });
  const tool = new EditTool(await Workspace.open(task.root), changes);
  const lines = createInterface({ input: process.stdin });
  tell({ thread: Number(thread) });
  await new Promise((resolve) => lines.once('line', resolve));
  lines.close();
  for (const edit of task.edits) await tool.execute(edit, new AbortController().signal);
}

main().then(
  () => tell({ status: 'written' }),
  (error: unknown) => {
    const type = error instanceof ToolError ? error.type : 'bug';
    tell({ status: 'failed', type, message: error instanceof Error ? error.message : String(error) });
    process.exitCode = 1;
  },
);
