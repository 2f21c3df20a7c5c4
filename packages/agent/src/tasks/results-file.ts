import { appendFile, open, readFile, stat, truncate } from 'node:fs/promises';
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

  /** Repairs the end of the file, which a killed process left. Any other line that is no result is an error. */
  static async open(path: string): Promise<ResultsFile> {
    const statuses = new Map<string, TaskResult['status']>();
    if ((await stat(path).catch(() => undefined)) === undefined) return new ResultsFile(path, statuses);
    const isWhole = await endsWithLine(path);
    let number = 0;
    let wrong: { number: number; line: string } | undefined;
    for await (const line of linesOf(path)) {
      number += 1;
      if (wrong) break;
      const result = parse(line);
      if (result) statuses.set(result.id, result.status);
      else wrong = { number, line };
    }
    if (wrong && (isWhole || wrong.number < number || !isHalfResult(wrong.line)))
      throw new TaskFileError(`${path}:${wrong.number}: not a result. Repair the file, or choose another with --out.`);
    if (wrong) await truncate(path, (await readFile(path)).lastIndexOf(0x0a) + 1);
    else if (!isWhole) await appendFile(path, '\n');
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

async function endsWithLine(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const last = Buffer.alloc(1);
    return size === 0 || ((await handle.read(last, 0, 1, size - 1)).bytesRead === 1 && last[0] === 0x0a);
  } finally {
    await handle.close();
  }
}

/** The beginning of what we write, so that a file of somebody else is never cut. A power failure can leave zeros. */
function isHalfResult(line: string): boolean {
  const start = '{"id":';
  const text = line.replace(/\0+$/, '');
  return !isJson(text) && (text.startsWith(start) || start.startsWith(text));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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
