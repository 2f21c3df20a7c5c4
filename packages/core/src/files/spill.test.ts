import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { LatheHome } from './lathe-home.js';
import { SpillStore } from './spill.js';

test('a spilled text is private, stays in its directory whatever its name, and says when it is not whole', async () => {
  const directory = tempDirectory();
  const store = new SpillStore(new LatheHome(directory));
  const path = await store.write('../../x\0/y', 'whole');
  expect(dirname(path)).toBe(store.directory);
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['whole', 0o600]);
  const long = await store.write('long', 'x'.repeat(51 * 1024 * 1024));
  expect(readFileSync(long).subarray(-60).toString()).toContain('[cut here');
});

test('all sessions together stay within the limit: first files of ended ones go, then their own', async () => {
  const home = new LatheHome(tempDirectory());
  const keepRule = () => ({ since: 0, maxBytes: 60 * 1024 * 1024 });
  const text = 'x'.repeat(33 * 1024 * 1024);
  const [ended, running, own] = [0, 1, 2].map(() => new SpillStore(home, { keepRule }));
  const first = await ended?.write('first', text);
  await ended?.inUse.release();
  const second = await running?.write('second', text);
  expect([first, second].map((path) => existsSync(path ?? ''))).toEqual([false, true]);
  const third = await own?.write('third', text);
  const fourth = await own?.write('fourth', text);
  expect([second, third, fourth].map((path) => existsSync(path ?? ''))).toEqual([true, false, true]);
});

test('known secrets and texts that look like keys are not written', async () => {
  const known = 'correct-horse-battery';
  const store = new SpillStore(new LatheHome(tempDirectory()), { secrets: [known] });
  const key = `sk-proj-${'Ab3'.repeat(16)}`;
  const path = await store.write('output', `first ${known}\nOPENAI_API_KEY=${key}\nlast\n`);
  const text = readFileSync(path, 'utf8');
  expect([text.includes(known), text.includes(key)]).toEqual([false, false]);
  expect(text).toMatch(/^first .*\n.*\nlast\n$/);
});
