import { open, readFile, stat, truncate } from 'node:fs/promises';
import { linesOf, TaskFileError } from './read-tasks.js';
import type { TaskResult } from './run-task.js';

/** The results so far, as a file to which one line is added for each task that has ended. */
export class ResultsFile {
  readonly #path: string;
  /** Of the tasks that have ended, by id. */
  readonly statuses: Map<string, TaskResult['status']>;

  private constructor(path: string, statuses: Map<string, TaskResult['status']>) {
    this.#path = path;
    this.statuses = statuses;
  }

  /** Removes half a line at the end, which a killed process left. Anything else that is no result is an error. */
  static async open(path: string): Promise<ResultsFile> {
    const statuses = new Map<string, TaskResult['status']>();
    if ((await stat(path).catch(() => undefined)) === undefined) return new ResultsFile(path, statuses);
    await cutHalfLine(path);
    let number = 0;
    for await (const line of linesOf(path)) {
      number += 1;
      const result = parse(line);
      if (!result)
        throw new TaskFileError(`${path}:${number}: not a result. Repair the file, or choose another with --out.`);
      statuses.set(result.id, result.status);
    }
    return new ResultsFile(path, statuses);
  }

  /** Adds a result, durably: once it is there, its task never runs again. */
  async add(result: TaskResult): Promise<void> {
    const handle = await open(this.#path, 'a', 0o600);
    try {
      await handle.write(`${JSON.stringify(result)}\n`);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    this.statuses.set(result.id, result.status);
  }
}

/** Only what follows the last line end can be half a line. */
async function cutHalfLine(path: string): Promise<void> {
  const { size } = await stat(path);
  const handle = await open(path, 'r');
  try {
    const last = Buffer.alloc(1);
    if (size === 0 || ((await handle.read(last, 0, 1, size - 1)).bytesRead === 1 && last[0] === 0x0a)) return;
  } finally {
    await handle.close();
  }
  await truncate(path, (await readFile(path)).lastIndexOf(0x0a) + 1);
}

function parse(line: string): Pick<TaskResult, 'id' | 'status'> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const fields = new Map<string, unknown>(Object.entries(Object(value)));
    const [id, status] = [fields.get('id'), fields.get('status')];
    const known = (['success', 'error', 'cancelled'] as const).find((each) => each === status);
    return typeof id === 'string' && known ? { id, status: known } : undefined;
  } catch {
    return undefined;
  }
}
