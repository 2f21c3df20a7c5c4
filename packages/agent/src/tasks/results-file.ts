import { appendFile, open, readFile, truncate } from 'node:fs/promises';
import { parseBoundedJson } from '@lathe/core/host';
import { linesOf, TaskFileError } from './read-tasks.js';
import type { TaskResult } from './run-task.js';

/** The results so far, as a file to which one line is added for each task that has ended. */
export class ResultsFile {
  readonly #path: string;
  /** Of the tasks that have ended, by id. */
  readonly statuses = new Map<string, TaskResult['status']>();
  #written = Promise.resolve();

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * Makes the file, or repairs its end, which a killed process left. Any other line that is not a result is an error, and so
   * is a file that cannot be written.
   */
  static async open(path: string): Promise<ResultsFile> {
    const isWhole = await endsWithLine(path);
    const file = new ResultsFile(path);
    let number = 0;
    let broken: number | undefined;
    for await (const line of linesOf(path)) {
      number += 1;
      if (line.trim() === '') continue;
      const result = parse(line);
      if (result && broken === undefined) file.statuses.set(result.id, result.status);
      else broken ??= number;
      const isHalf = number === broken && !isWhole && isHalfResult(line);
      if (broken !== undefined && !isHalf)
        throw new TaskFileError(`${path}:${broken}: not a result. Repair the file, or choose another with --out.`);
    }
    if (broken !== undefined) await truncate(path, (await readFile(path)).lastIndexOf(0x0a) + 1);
    else if (!isWhole) await appendFile(path, '\n');
    return file;
  }

  /** Adds a result, durably: once it is there, its task never runs again. */
  add(result: TaskResult): Promise<void> {
    this.#written = this.#append(result, this.#written);
    return this.#written;
  }

  /** One after the other, and nothing after a failure: what follows half a line would be lost. */
  async #append(result: TaskResult, before: Promise<void>): Promise<void> {
    await before;
    await appendFile(this.#path, `${JSON.stringify(result)}\n`, { flush: true });
    this.statuses.set(result.id, result.status);
  }
}

async function endsWithLine(path: string): Promise<boolean> {
  const handle = await open(path, 'a+', 0o600);
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw new TaskFileError(`${path} is not a regular file. Choose another with --out.`);
    const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position: Math.max(0, info.size - 1) });
    return info.size === 0 || buffer[0] === 0x0a;
  } finally {
    await handle.close();
  }
}

/** The beginning of what we write, so that a file of somebody else is never cut. A power failure can leave zeros. */
function isHalfResult(line: string): boolean {
  const start = '{"id":';
  const text = line.replace(/\0+$/, '');
  return !parseBoundedJson(text).ok && (text.startsWith(start) || start.startsWith(text));
}

function parse(line: string): Pick<TaskResult, 'id' | 'status'> | undefined {
  const parsed = parseBoundedJson(line);
  const { id, status }: Partial<Record<string, unknown>> = Object(parsed.ok && parsed.value);
  const known = (['success', 'error', 'cancelled'] as const).find((each) => each === status);
  return typeof id === 'string' && known ? { id, status: known } : undefined;
}
