import { createReadStream } from 'node:fs';

const taskModes = ['plan', 'default', 'auto-edit', 'yolo'] as const;

/** One line of a task file. */
export interface TaskLine {
  /** Unique in the file: the same id is the same task. */
  id: string;
  prompt: string;
  /** Default: the directory of the one who runs the tasks. */
  cwd?: string;
  model?: string;
  mode?: (typeof taskModes)[number];
}

/** A task file that cannot be used; the message says in which line and why. */
export class TaskFileError extends Error {
  override readonly name = 'TaskFileError';
}

const fields = new Set(['id', 'prompt', 'cwd', 'model', 'mode']);
/** The largest patch of a result fits. */
const maxLineLength = 200_000_000;

/** Reads a file with one task as JSON in each line. Nothing is run if one of them is wrong. */
export async function readTasks(path: string): Promise<TaskLine[]> {
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
  const value = parseObject(line, where);
  const unknown = [...value.keys()].find((name) => !fields.has(name));
  if (unknown !== undefined)
    throw new TaskFileError(`${where}: ${JSON.stringify(unknown)} is no field of a task (${[...fields].join(', ')})`);
  const text = (name: string): string | undefined => {
    const given = value.get(name);
    if (given === undefined || (typeof given === 'string' && given.trim() !== '')) return given;
    throw new TaskFileError(`${where}: ${name} must be a text that is not empty`);
  };
  const [id, prompt, cwd, model, named] = [text('id'), text('prompt'), text('cwd'), text('model'), text('mode')];
  if (id === undefined || prompt === undefined)
    throw new TaskFileError(`${where}: ${id === undefined ? 'id' : 'prompt'} is missing`);
  const mode = taskModes.find((each) => each === named);
  if (named !== undefined && mode === undefined)
    throw new TaskFileError(`${where}: mode must be one of ${taskModes.join(', ')}`);
  return {
    id,
    prompt,
    ...(cwd !== undefined && { cwd }),
    ...(model !== undefined && { model }),
    ...(mode && { mode }),
  };
}

function parseObject(line: string, where: string): Map<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return new Map(Object.entries(value));
  } catch {
    // Told below.
  }
  throw new TaskFileError(`${where}: not a JSON object`);
}
