import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
};

function manyFiles(): string {
  const root = tempDirectory();
  for (let index = 0; index < count; index++) {
    if (index < 20) mkdirSync(join(root, `d${index}`));
    writeFileSync(join(root, `d${index % 20}/f${index}`), '');
  }
  return root;
}

const find = (root: string, times: FileTimes, signal = new AbortController().signal) =>
  findFiles({ directory: toBytePath(root), rules: new IgnoreRules([root]), signal, limit: 10, times });

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

test('an aborted search leaves no thread with work of its own', { timeout: 120_000 }, async () => {
  const root = manyFiles();
  const threads: Worker[] = [];
  const ended = new AbortController();
  const start = () => {
    // Takes piles and never answers.
    const thread = new Worker(`require('node:worker_threads').parentPort.on('message', () => {})`, quiet);
    threads.push(thread);
    thread.once('online', () => ended.abort());
    return thread;
  };
  await expect(find(root, new FileTimes({ start }), ended.signal)).rejects.toThrow('aborted');
  await vi.waitFor(() => expect(threads.map(({ threadId }) => threadId)).toEqual([-1]), 60_000);
});
