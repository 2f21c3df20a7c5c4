import { describeMismatch } from '@lathe/core/host';
import { Type } from 'typebox';
import type { Task } from '../submit.js';
import { FleetUsageError } from './io.js';

const text = Type.String({ minLength: 1 });
const modes = ['plan', 'default', 'auto-edit', 'yolo'].map((mode) => Type.Literal(mode));
const taskSchema = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 200 }),
    prompt: text,
    cwd: Type.Optional(text),
    model: Type.Optional(text),
    mode: Type.Optional(Type.Union(modes)),
  },
  { additionalProperties: false },
);

/** The tasks of a file with one JSON object per line. Throws with the number of the first wrong line. */
export function readTasks(content: string): Task[] {
  const tasks = new Map<string, Task>();
  for (const [index, line] of content.split('\n').entries()) {
    if (line.trim() === '') continue;
    const task = parse(line, index + 1);
    if (tasks.has(task.id))
      throw new FleetUsageError(`line ${index + 1}: there are two tasks ${JSON.stringify(task.id)}`);
    tasks.set(task.id, task);
  }
  if (tasks.size === 0) throw new FleetUsageError('the task file has no tasks');
  return [...tasks.values()];
}

function parse(line: string, number: number): Task {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new FleetUsageError(`line ${number} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const problem = describeMismatch(taskSchema, value);
  if (problem !== null) throw new FleetUsageError(`line ${number}: ${problem}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has just been checked
  return value as Task;
}
