import { appendFileSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isLong } from '../../../../testing/long-run.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { readTasks } from './read-tasks.js';
import { type BatchOptions, runBatch } from './run-batch.js';
import { runTask, type TaskResult } from './run-task.js';

const never = new AbortController().signal;
const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
const resultOf = (id: string): TaskResult => ({ id, status: 'success', result: `did ${id}`, usage, sessionId: 's' });
const tasksOf = (...ids: string[]) => ids.map((id) => ({ id, prompt: `do ${id}` }));

/** A batch whose tasks are done at once, and what ran. */
function batch(directory: string, own: Partial<BatchOptions> = {}) {
  const ran: string[] = [];
  const options: BatchOptions = {
    cwd: directory,
    env: {},
    home: directory,
    jobs: 3,
    out: join(directory, 'out.jsonl'),
    run: async ({ id }, { onResult }) => {
      ran.push(id);
      await onResult?.(resultOf(id));
      return resultOf(id);
    },
    ...own,
  };
  return { ran, options };
}

const lines = (path: string) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line): TaskResult => JSON.parse(line));

test('each task has one result line, and a second run does only what is new', async () => {
  const directory = tempDirectory();
  const { options, ran } = batch(directory);
  expect(await runBatch(tasksOf('a', 'b', 'c'), options, never)).toMatchObject({
    total: 3,
    done: 3,
    now: 3,
    failed: 0,
  });
  expect(await runBatch(tasksOf('a', 'b', 'c', 'd'), options, never)).toMatchObject({ done: 4, now: 1 });
  expect(ran.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  expect(
    lines(options.out)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(['a', 'b', 'c', 'd']);
});

test('half a line at the end is removed and its task runs again; any other damage stops the batch', async () => {
  const directory = tempDirectory();
  const { options, ran } = batch(directory);
  await runBatch(tasksOf('a'), options, never);
  appendFileSync(options.out, '{"id":"b","status":"succ');
  await runBatch(tasksOf('a', 'b'), options, never);
  expect(ran).toEqual(['a', 'b']);
  expect(lines(options.out).map(({ id }) => id)).toEqual(['a', 'b']);
  // As after an edit by hand.
  writeFileSync(options.out, '{"id":"a","status":"success"}\n\n{"id":"b","status":"success"}\n');
  await runBatch(tasksOf('a', 'b'), options, never);
  expect(ran).toEqual(['a', 'b']);
  writeFileSync(options.out, `{"id":"a","status":"success"}\n\u0000\u0000garbage\n`);
  await expect(runBatch(tasksOf('a', 'b'), options, never)).rejects.toThrow(/out\.jsonl:2: not a result/);
  expect(ran).toEqual(['a', 'b']);
});

test('two batches on one file: the second is refused', async () => {
  const directory = tempDirectory();
  let end = () => {};
  const held = new Promise<void>((resolve) => (end = resolve));
  let started = () => {};
  const begun = new Promise<void>((resolve) => (started = resolve));
  const first = batch(directory, {
    run: async ({ id }) => {
      started();
      await held;
      return resultOf(id);
    },
  });
  const running = runBatch(tasksOf('a'), first.options, never);
  await begun;
  const second = batch(directory);
  // Another process asks for the lock anew, as this does.
  await expect(runBatch(tasksOf('a'), second.options, never)).rejects.toThrow('Another batch writes to');
  expect(second.ran).toEqual([]);
  end();
  await running;
});

test('an interrupted task has no result and runs again; no more than the limit run at once', async () => {
  const directory = tempDirectory();
  const controller = new AbortController();
  let most = 0;
  let now = 0;
  const { options } = batch(directory, {
    run: async ({ id }, { onResult }, signal) => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now -= 1;
      if (id === 'd') controller.abort();
      const result: TaskResult = signal.aborted ? { ...resultOf(id), status: 'cancelled' } : resultOf(id);
      await onResult?.(result);
      return result;
    },
  });
  const progress = await runBatch(tasksOf('a', 'b', 'c', 'd', 'e', 'f'), options, controller.signal);
  expect(progress.done).toBeLessThan(5);
  expect(most).toBeLessThanOrEqual(3);
  const before = lines(options.out).map(({ id }) => id);
  expect(before).not.toContain('d');
  const again = batch(directory);
  await runBatch(tasksOf('a', 'b', 'c', 'd', 'e', 'f'), again.options, never);
  expect([...before, ...again.ran].toSorted((a, b) => (a < b ? -1 : 1))).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

test.each([
  'notes, with no line end',
  'first line\nno line end',
  '{"id":"a","prompt":"a task, and no result"}',
  '{"id":"a","status":"success"}\n{"id":"b","prompt":"x"}',
])('a file that holds no results stays as it is: %j', async (text) => {
  const directory = tempDirectory({ 'out.jsonl': text });
  const { options, ran } = batch(directory);
  await expect(runBatch(tasksOf('a', 'b'), options, never)).rejects.toThrow('not a result');
  expect(readFileSync(options.out, 'utf8')).toBe(text);
  expect(ran).toEqual([]);
});

test('a result that lacks only its line end counts', async () => {
  const directory = tempDirectory({ 'out.jsonl': JSON.stringify(resultOf('a')) });
  const { options, ran } = batch(directory);
  await runBatch(tasksOf('a', 'b'), options, never);
  expect(ran).toEqual(['b']);
  expect(lines(options.out).map(({ id }) => id)).toEqual(['a', 'b']);
});

test('a second batch is refused also if it names the file by a symlink', async () => {
  const directory = tempDirectory({ 'out.jsonl': '' });
  symlinkSync('out.jsonl', join(directory, 'link.jsonl'));
  const inner = batch(directory, { out: join(directory, 'link.jsonl') });
  const { options } = batch(directory, {
    run: async ({ id }) => {
      await expect(runBatch(tasksOf('a'), inner.options, never)).rejects.toThrow('Another batch writes to');
      return resultOf(id);
    },
  });
  await runBatch(tasksOf('a'), options, never);
  expect(inner.ran).toEqual([]);
});

test('a result that cannot be written stops the batch', async () => {
  const directory = tempDirectory({ 'results/out.jsonl': '' });
  const events: string[] = [];
  const { options } = batch(directory, {
    out: join(directory, 'results/out.jsonl'),
    jobs: 2,
    run: async ({ id }, { onResult }, signal) => {
      events.push(`start ${id}`);
      if (id === 'b') await new Promise((resolve) => signal.addEventListener('abort', resolve));
      events.push(`${signal.aborted ? 'stop' : 'end'} ${id}`);
      rmSync(join(directory, 'results'), { recursive: true, force: true });
      await onResult?.(resultOf(id));
      return resultOf(id);
    },
  });
  await expect(runBatch(tasksOf('a', 'b', 'c'), options, never)).rejects.toThrow('ENOENT');
  expect(events).toEqual(['start a', 'end a', 'start b', 'stop b']);
});

test('a task whose result cannot be kept has none', async () => {
  const directory = tempDirectory();
  const onResult = () => Promise.reject(new Error('no space left'));
  const task = runTask({ id: 'a', prompt: 'x' }, { cwd: directory, env: {}, home: directory, onResult }, never);
  await expect(task).rejects.toThrow('no space left');
});

test.each([
  ['a directory', tmpdir(), 'EISDIR'],
  ['a device', '/dev/null', 'not a regular file'],
  ['a place that is not there', '/nowhere/out.jsonl', 'ENOENT'],
])('results cannot go to %s, which shows before anything runs', async (_, out, message) => {
  const { options, ran } = batch(tempDirectory(), { out });
  await expect(runBatch(tasksOf('a'), options, never)).rejects.toThrow(message);
  expect(ran).toEqual([]);
});

test('a byte order mark and empty lines are not tasks', async () => {
  const directory = tempDirectory({ 'tasks.jsonl': '\ufeff{"id":"a","prompt":"x"}\r\n\r\n{"id":"b","prompt":"y"}' });
  expect(await readTasks(join(directory, 'tasks.jsonl'))).toEqual([
    { id: 'a', prompt: 'x' },
    { id: 'b', prompt: 'y' },
  ]);
});

test('auto is a name of the mode auto-edit, as on the command line', async () => {
  const directory = tempDirectory({ 'tasks.jsonl': '{"id":"a","prompt":"x","mode":"auto"}' });
  expect(await readTasks(join(directory, 'tasks.jsonl'))).toEqual([{ id: 'a', prompt: 'x', mode: 'auto-edit' }]);
});

test('a file that is not there is named in plain words', async () => {
  await expect(readTasks('/nowhere/tasks.jsonl')).rejects.toThrow('There is no file /nowhere/tasks.jsonl');
});

test.skipIf(!existsSync('/dev/zero'))('a line without an end is refused', async () => {
  await expect(readTasks('/dev/zero')).rejects.toThrow('/dev/zero:1: the line is too long');
});

test.each([
  ['{"id":"a"}', 'prompt is missing'],
  ['{"prompt":"x"}', 'id is missing'],
  ['{"id":"a","prompt":"x","mode":"fast"}', 'mode must be one of'],
  ['{"id":"a","prompt":"x","promt":"y"}', 'promt is not a known parameter; did you mean prompt?'],
  ['{"id":1,"prompt":"x"}', 'id must be a string'],
  ['[1]', 'not a JSON object'],
  ['{"id":"a"', 'not a JSON object'],
  ['{"id":"a","prompt":"x"}\n\n{"id":"a","prompt":"y"}', 'tasks.jsonl:3: the id "a" is in line 1 too'],
])('a task file with %j is refused', async (text, message) => {
  const directory = tempDirectory({ 'tasks.jsonl': text });
  await expect(readTasks(join(directory, 'tasks.jsonl'))).rejects.toThrow(message);
});

test('a very long file of tasks is read, and only what has no result runs', async () => {
  const ids = Array.from({ length: isLong ? 100_000 : 10_000 }, (_, at) => `${at}`);
  const directory = tempDirectory({
    'tasks.jsonl': ids.map((id) => `{"id":"${id}","prompt":"do ${id}"}`).join('\r\n'),
    'out.jsonl': ids
      .slice(5)
      .map((id) => `${JSON.stringify(resultOf(id))}\n`)
      .join(''),
  });
  const tasks = await readTasks(join(directory, 'tasks.jsonl'));
  const { options, ran } = batch(directory);
  await runBatch(tasks, options, never);
  expect(ran).toEqual(['0', '1', '2', '3', '4']);
  expect(existsSync(join(directory, 'out.jsonl'))).toBe(true);
});
