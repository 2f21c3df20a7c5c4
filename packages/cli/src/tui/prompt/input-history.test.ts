import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LatheHome } from '@lathe/core/tools';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { InputHistory } from './input-history.js';

function fileIn(home: LatheHome): string {
  return join(home.file('history'), readdirSync(home.file('history'))[0] ?? '');
}

test('the history of a directory is available the next time, and only there', async () => {
  const home = new LatheHome(tempDirectory());
  const history = await InputHistory.open(home, '/project');
  for (const input of ['one', 'two\nlines', 'two\nlines', ' secret', 'x'.repeat(20_000)]) history.add(input);
  expect(history.inputs).toHaveLength(4);
  await history.close();
  expect((await InputHistory.open(home, '/project')).inputs).toEqual(['one', 'two\nlines']);
  expect((await InputHistory.open(home, '/other')).inputs).toEqual([]);
  expect(statSync(fileIn(home)).mode & 0o777).toBe(0o600);
});

test('the valid lines of a damaged or long file are read, and the file is shortened', async () => {
  const home = new LatheHome(tempDirectory());
  const history = await InputHistory.open(home, '/project');
  history.add('first');
  await history.close();
  const lines = Array.from({ length: 30_000 }, (_, index) => `${JSON.stringify(`input number ${index}`)}\n`);
  appendFileSync(fileIn(home), `${lines.join('')}{"not": "ours"}\n"cut`);
  const again = await InputHistory.open(home, '/project');
  expect(again.inputs).toHaveLength(500);
  expect(again.inputs.at(-1)).toBe('input number 29999');
  await again.close();
  expect(readFileSync(fileIn(home), 'utf8').split('\n')).toHaveLength(501);
});

test('a history that cannot be written does not stop the work', async () => {
  const directory = tempDirectory();
  writeFileSync(join(directory, 'file'), '');
  const history = await InputHistory.open(new LatheHome(join(directory, 'file')), '/project');
  history.add('one');
  await history.close();
  expect(history.inputs).toEqual(['one']);
});
