import { once } from 'node:events';
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { toBytePath } from './byte-path.js';
import { FileTimes, startThread } from './file-times.js';
import { findFiles } from './find-files.js';
import { IgnoreRules } from './ignore-rules.js';

// More than one thread is left alone with.
const count = 11_000;

const quiet = { eval: true, stdout: true, stderr: true };

const broken: Record<string, () => Worker> = {
  'cannot start': () => {
    throw new Error('EAGAIN');
  },
  fails: () => new Worker(`require('node:worker_threads').parentPort.on('message', () => null.x)`, quiet),
  'ends without a word': () => new Worker('process.exit()', quiet),
  'answers too little': () => {
    const program = `
      const { parentPort, workerData: answered } = require('node:worker_threads');
      parentPort.on('message', () => { Atomics.add(answered, 0, 1); parentPort.postMessage(new Float64Array(3)); });`;
    return new Worker(program, { ...quiet, workerData: new Int32Array(new SharedArrayBuffer(4)) });
  },
};

function manyFiles(): string {
  const root = tempDirectory();
  for (let index = 0; index < count; index++) {
    if (index < 20) mkdirSync(join(root, `d${index}`));
    writeFileSync(join(root, `d${index % 20}/f${index}`), '');
  }
  return root;
}

const never = new AbortController().signal;

const find = (
  root: string,
  times: FileTimes,
  options: { signal?: AbortSignal; limit?: number; timeoutMs?: number } = {},
) =>
  findFiles({
    directory: toBytePath(root),
    rules: new IgnoreRules([root]),
    signal: never,
    limit: 10,
    times,
    ...options,
  });

/** A thread that takes piles and never answers. */
const silent = () => new Worker(`require('node:worker_threads').parentPort.on('message', () => {})`, quiet);

test('every file is found whatever becomes of the second thread', { timeout: 120_000 }, async () => {
  const root = manyFiles();
  for (const [what, start] of Object.entries(broken)) {
    const times = new FileTimes({ start });
    for (const again of ['', ', again']) {
      const { files, total, isComplete } = await find(root, times);
      const found = { shown: files.length, total, isComplete };
      expect(found, what + again).toEqual({ shown: 10, total: count, isComplete: true });
    }
  }
});

test('the second thread waits for the next search, and not for ever', { timeout: 120_000 }, async () => {
  const root = manyFiles();
  const threads: Worker[] = [];
  const start = (answered: Int32Array) => {
    const thread = startThread(answered);
    threads.push(thread);
    return thread;
  };
  const times = new FileTimes({ start, idleMs: 1000 });
  const first = await find(root, times);
  expect([await find(root, times), threads.length]).toEqual([first, 1]);
  await vi.waitFor(() => expect(threads.map(({ threadId }) => threadId)).toEqual([-1]), 60_000);
  expect([await find(root, times), threads.length]).toEqual([first, 2]);
});

test('both threads see the same', { timeout: 120_000 }, async () => {
  const root = manyFiles();
  const odd = join(root, 'odd');
  mkdirSync(odd);
  symlinkSync('../d1/f1', join(odd, 'good'));
  symlinkSync('nowhere', join(odd, 'dangling'));
  symlinkSync('looping', join(odd, 'looping'));
  symlinkSync('..', join(odd, 'up'));
  // Not every file system takes any bytes.
  if (process.platform === 'linux') writeFileSync(Buffer.from(`${odd}/\xff.txt`, 'latin1'), '');
  for (let index = 0; index < count; index += 7)
    utimesSync(join(root, `d${index % 20}/f${index}`), 1, (index * 37) % 5000);
  const threads: Worker[] = [];
  const start = (answered: Int32Array) => {
    const thread = startThread(answered);
    threads.push(thread);
    return thread;
  };
  const alone = new FileTimes({ start: broken['cannot start'] });
  const expected = await find(root, alone, { limit: 20_000 });
  expect(expected.total).toBe(count + (process.platform === 'linux' ? 2 : 1));
  expect([await find(root, new FileTimes({ start }), { limit: 20_000 }), threads.length]).toEqual([expected, 1]);
});

const isGone = ({ threadId }: Worker) => threadId === -1;

test('an aborted search leaves no thread behind', { timeout: 120_000 }, async () => {
  const root = manyFiles();
  const threads: Worker[] = [];
  const ended = new AbortController();
  const start = () => {
    const thread = silent().once('online', () => ended.abort());
    threads.push(thread);
    return thread;
  };
  await expect(find(root, new FileTimes({ start }), { signal: ended.signal })).rejects.toThrow('aborted');
  await vi.waitFor(() => expect(threads.map(isGone)).toEqual([true]), 60_000);
});

test('a search that was aborted before it began does not keep the thread of the next one', async () => {
  const root = manyFiles();
  const threads: Worker[] = [];
  const start = (answered: Int32Array) => {
    const thread = startThread(answered);
    threads.push(thread);
    return thread;
  };
  const times = new FileTimes({ start, idleMs: 0 });
  await expect(find(root, times, { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
  await find(root, times);
  await vi.waitFor(() => expect(threads.map(isGone)).toEqual([true]), 60_000);
});

test('a time limit holds also when the second thread does not answer', { timeout: 120_000 }, async () => {
  const { total, isComplete } = await find(manyFiles(), new FileTimes({ start: silent }), { timeoutMs: 5000 });
  expect({ isComplete, hasSome: total > 0, hasAll: total === count }).toEqual({
    isComplete: false,
    hasSome: true,
    hasAll: false,
  });
});

test('a thread that fails after the search has ended harms nobody', async () => {
  const times = new FileTimes({ start: () => new Worker('null.x', quiet) });
  times.open();
  times.expectMany();
  const answer = times.startElsewhere(['/']);
  times.close();
  await expect(Promise.race([answer, setImmediate('nothing')])).resolves.toBe('nothing');
  // An error without a listener would end the process.
  const other = new Worker('', quiet);
  await once(other, 'exit');
});
