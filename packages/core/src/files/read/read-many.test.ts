import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { readMany } from './read-many.js';

const limits = { chars: 10_000_000, mediaBytes: 0 };

test('an abort is heard between files, because the event loop turns while they are read', async () => {
  const names = Array.from({ length: 1000 }, (_, index) => `${index}.txt`);
  const root = tempDirectory(Object.fromEntries(names.map((name) => [name, `text of ${name}\n`.repeat(200)])));
  const files = names.map((name) => ({ path: join(root, name), isNamed: true }));
  const stop = new AbortController();
  const outcome = readMany(files, limits, stop.signal).then(
    () => 'read',
    (error: unknown) => error,
  );
  for (let turns = 0; turns < 4; turns++) await turn();
  stop.abort();
  expect(await outcome).toMatchObject({ name: 'AbortError' });
});
