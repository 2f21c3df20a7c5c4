import { join } from 'node:path';
import { Workspace } from '@lathe/core';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { mentionedPaths } from './mentioned-paths.js';

test.each([
  ['explain @a.txt please', ['a.txt']],
  ['@a.txt', ['a.txt']],
  ['look at @a.txt, @src and @a.txt.', ['a.txt', 'src/**']],
  ['mail me@a.txt', []],
  ['@missing', []],
  ['@', []],
  ['a file with a blank: @my\\ file.txt', ['my file.txt']],
  ['(@a.txt)', []],
])('%j mentions %j', async (text, expected) => {
  const root = tempDirectory({ 'a.txt': '', 'src/b.ts': '', 'my file.txt': '' });
  expect(await mentionedPaths(text, await Workspace.open(root))).toEqual(expected);
});

test('absolute paths are mentioned as they are; whether they may be read is for the reader to say', async () => {
  const root = tempDirectory({ 'a.txt': '' });
  expect(await mentionedPaths(`@${join(root, 'a.txt')}`, await Workspace.open(tempDirectory()))).toEqual([
    join(root, 'a.txt'),
  ]);
});
