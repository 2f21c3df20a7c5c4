import { createReadStream, existsSync } from 'node:fs';
import { describeMismatch, parseBoundedJson } from '@lathe/core/host';
import type { XStatic } from 'typebox/schema';

const text = { type: 'string', pattern: '\\S' } as const;
const schema = {
  type: 'object',
  properties: {
    id: text,
    prompt: text,
    cwd: text,
    model: text,
    mode: { type: 'string', enum: ['plan', 'default', 'auto-edit', 'auto', 'yolo'] },
  },
  required: ['id', 'prompt'],
  additionalProperties: false,
} as const;

/** One line of a task file. The same `id` is the same task. Default of `cwd`: the directory of the one who runs the tasks. */
export type TaskLine = Omit<Written, 'mode'> & { mode?: Exclude<Written['mode'], 'auto' | undefined> };

type Written = XStatic<typeof schema>;

/** A task file that cannot be used; the message says in which line and why. */
export class TaskFileError extends Error {
  override readonly name = 'TaskFileError';
}

/** The largest patch of a result fits. */
const maxLineLength = 200_000_000;

/** Reads a file with one task as JSON in each line. Nothing is run if one of them is wrong. */
export async function readTasks(path: string): Promise<TaskLine[]> {
  if (!existsSync(path)) throw new TaskFileError(`There is no file ${path}`);
  const lineOf = new Map<string, number>();
  const tasks: TaskLine[] = [];
  let number = 0;
  for await (const line of linesOf(path)) {
    number += 1;
    if (line.trim() === '') continue;
    const where = `${path}:${number}`;
    const task = parseTask(line, where);
    const earlier = lineOf.get(task.id);
    if (earlier !== undefined)
      throw new TaskFileError(`${where}: the id ${JSON.stringify(task.id)} is in line ${earlier} too`);
    lineOf.set(task.id, number);
    tasks.push(task);
  }
  return tasks;
}

/** The lines of a file, the last one also without a line end, and without a byte order mark. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = '';
  let number = 0;
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) {
    rest += number === 0 && rest === '' ? String(chunk).replace(/^\ufeff/, '') : chunk;
    if (rest.length > maxLineLength) throw new TaskFileError(`${path}:${number + 1}: the line is too long`);
    if (!chunk.includes('\n')) continue;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    number += lines.length;
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function parseTask(line: string, where: string): TaskLine {
  const parsed = parseBoundedJson(line);
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value))
    throw new TaskFileError(`${where}: not a JSON object`);
  const problem = describeMismatch(schema, parsed.value);
  if (problem !== null) throw new TaskFileError(`${where}: ${problem}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema
  const { mode, ...task } = parsed.value as Written;
  return { ...task, ...(mode !== undefined && { mode: mode === 'auto' ? 'auto-edit' : mode }) };
}
