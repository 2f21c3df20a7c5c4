import { join } from 'node:path';
import { Workspace } from '@lathe/core/tools';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { describeMissing, mentionedPaths, mentionOf } from './mentioned-paths.js';

test.each([
  ['explain @a.txt please', ['a.txt']],
  ['@a.txt', ['a.txt']],
  ['look at @a.txt, @src and @a.txt.', ['a.txt', 'src/**']],
  ['mail me@a.txt', []],
  ['@missing', []],
  ['@', []],
  ['a file with a space: @my\\ file.txt', ['my file.txt']],
  ['(@a.txt)', []],
  ['in quotes: @"my file.txt", and @"src/".', ['my file.txt', 'src/**']],
  ['not closed: @"my file.txt', ['my file.txt']],
  ['not closed: @"my file.txt\nand more', []],
  ['nonsense: @"\\q"', []],
])('%j mentions %j', async (text, expected) => {
  const root = tempDirectory({ 'a.txt': '', 'src/b.ts': '', 'my file.txt': '' });
  expect((await mentionedPaths(text, await Workspace.open(root))).patterns).toEqual(expected);
});

test('absolute paths are kept; the tool that reads them decides about access', async () => {
  const root = tempDirectory({ 'a.txt': '' });
  const path = join(root, 'a.txt');
  expect(await mentionedPaths(`@${path}`, await Workspace.open(tempDirectory()))).toEqual({
    patterns: [path],
    files: [path],
    missing: [],
  });
});

test.each([
  'a.txt',
  'my file.txt',
  'pages/[id].tsx',
  'a"b\\c',
  'ends.',
  'odd\\x1Bname',
  'zero\u200bwidth\u{e0041}',
  'src/',
])('the mention of %j resolves to the same path', async (path) => {
  const shown = path.replace(/\/$/, '/b.ts');
  const root = tempDirectory({ [shown.replace('\\x1B', '\u001b')]: '' });
  const expected = path.endsWith('/') ? `${path}**` : path;
  const { patterns } = await mentionedPaths(`see ${mentionOf(path)}, please`, await Workspace.open(root));
  expect(patterns).toEqual([expected]);
  expect(mentionOf(path)).not.toMatch(/[\u200b\u{e0041}]/u);
});

test('a mention of nothing is reported, unless a server has it', async () => {
  const { missing } = await mentionedPaths('see @nosuch, @docs:a/b and @nosuch', await Workspace.open(tempDirectory()));
  expect(describeMissing(missing, ['docs'])).toBe('No file or folder here matches @nosuch: nothing was added for it.');
  expect(describeMissing(['docs:a'], ['docs'])).toBeUndefined();
  expect(describeMissing(['a', 'b', 'c', 'd', 'e'], [])).toContain('@a, @b, @c and 2 more');
});
