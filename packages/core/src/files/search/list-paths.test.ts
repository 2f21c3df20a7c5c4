import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { IgnoreRules } from '../ignore/ignore-rules.js';
import { Workspace } from '../workspace.js';
import { listPaths } from './list-paths.js';

async function listed(workspace: Workspace, canRead?: (path: string) => boolean): Promise<string[]> {
  const visibility = { rules: new IgnoreRules(workspace.roots), canRead };
  const all: string[] = [];
  for await (const paths of listPaths(workspace, visibility, new AbortController().signal)) all.push(...paths);
  return all.sort();
}

test('files, links and folders are listed as people name them; what is ignored or may not be read is not', async () => {
  const root = tempDirectory({
    '.git/HEAD': '',
    '.gitignore': 'built\n',
    '.qwenignore': 'private.txt\n',
    'a b.txt': '',
    'built/x.js': '',
    'private.txt': '',
    'secret/key': '',
    'src/deep/c.ts': '',
  });
  symlinkSync('a b.txt', join(root, 'link'));
  writeFileSync(join(root, 'odd\u001bname'), '');
  expect(await listed(await Workspace.open(root), (path) => path !== join(root, 'secret'))).toEqual([
    '.gitignore',
    '.qwenignore',
    'a b.txt',
    'link',
    'odd\\x1Bname',
    'src/',
    'src/deep/',
    'src/deep/c.ts',
  ]);
});

test('further directories of the workspace are named in full', async () => {
  const [root, other] = [tempDirectory({ a: '' }), tempDirectory({ b: '' })];
  expect(await listed(await Workspace.open(root, [other]))).toEqual([join(other, 'b'), 'a'].sort());
});
