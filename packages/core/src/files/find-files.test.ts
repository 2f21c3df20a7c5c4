import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { toBytePath } from './byte-path.js';
import { FileTimes } from './file-times.js';
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

test('every file is found whatever becomes of the second thread', { timeout: 120_000 }, async () => {
  const root = tempDirectory();
  for (let index = 0; index < count; index++) {
    if (index < 20) mkdirSync(join(root, `d${index}`));
    writeFileSync(join(root, `d${index % 20}/f${index}`), '');
  }
  for (const [what, start] of Object.entries(broken)) {
    const { files, total, isComplete } = await findFiles({
      directory: toBytePath(root),
      rules: new IgnoreRules([root]),
      signal: new AbortController().signal,
      limit: 10,
      times: new FileTimes(start),
    });
    expect({ shown: files.length, total, isComplete }, what).toEqual({ shown: 10, total: count, isComplete: true });
  }
});
