import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { analyzeCommand } from './analyze-command.js';
import { repositoryDoubt } from './git-repository.js';

const plain =
  '[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote "origin"]\n\turl = a\n[branch "main"]\n\tremote = origin\n';

test('an ordinary repository is no reason to doubt, nor is a directory without one', async () => {
  expect(await repositoryDoubt(tempDirectory({ '.git/config': plain }))).toBeUndefined();
  expect(await repositoryDoubt(tempDirectory())).toBeUndefined();
});

test.each([
  '[core]\n\tfsmonitor = ./evil',
  '[core] fsmonitor=./evil',
  '[core]\n\tFSMonitor = true',
  '[core]\n\tfsmonitor',
  '[diff]\n\texternal = ./evil',
  '[diff "x"]\n\ttextconv = ./evil',
  '[diff "x"]\n\tcommand = ./evil',
  '[filter "x"]\n\tclean = ./evil',
  '[filter "x"]\n\tprocess = ./evil',
  '[gpg]\n\tprogram = ./evil',
  '[log]\n\tshowSignature = true',
  '[include]\n\tpath = ../evil',
  '[includeIf "gitdir:/"]\n\tpath = ../evil',
  '[core]\n\tworktree = /',
  '[remote "origin"]\n\tpromisor = true',
  '[format]\n\tpretty = %G?',
  '[format]\n\tpretty = %"G"?',
  '[format]\n\tpretty = %\\\nG?',
  '[core]\n\tfsmonitor = false/evil',
  '[core]\n\tfsmonitor = 0/../evil',
  '[core]\n\tfsmonitor = false";./evil"',
  '[core]\n\tfsmonitor = false\\\n;./evil',
  '[core] hooksPath = evil-hooks',
  '[core] hooksPath = none\n\thooksPath = "evil-hooks"',
  '[status]\n\tsubmoduleSummary = true',
])('a configuration that can make git run something is: %j', async (section) => {
  const root = tempDirectory({
    '.git/config': `${plain}${section}\n`,
    'src/a': '',
    'evil-hooks/post-index-change': '',
  });
  expect(await repositoryDoubt(join(root, 'src'))).toEqual(expect.any(String));
  const options = { cwd: root, workspaceRoots: [root], home: '/', path: '/usr/bin' };
  expect((await analyzeCommand('git status', options)).isReadOnly).toBe(false);
  expect((await analyzeCommand('cd src && git -C . log', options)).isReadOnly).toBe(false);
});

test('a monitor that is off is no reason', async () => {
  expect(await repositoryDoubt(tempDirectory({ '.git/config': '[core]\n\tfsmonitor = false\n' }))).toBeUndefined();
});

test('a directory that looks like a repository itself is a reason', async () => {
  const root = tempDirectory({
    HEAD: 'ref: x',
    'objects/a': '',
    'refs/a': '',
    config: '[core]\n\tfsmonitor = ./evil\n',
  });
  expect(await repositoryDoubt(root)).toContain('looks like a repository');
});

test('the directory a .git file points to is looked at, with what it shares', async () => {
  const evil = '[core]\n\tfsmonitor = ./evil\n';
  const linked = tempDirectory({ 'tree/.git': 'gitdir: ../real\n', 'real/config': evil });
  expect(await repositoryDoubt(join(linked, 'tree'))).toContain('fsmonitor');
  const worktree = tempDirectory({
    'tree/.git': 'gitdir: ../real/worktrees/a\n',
    'real/worktrees/a/commondir': '../..\n',
    'real/config': evil,
  });
  expect(await repositoryDoubt(join(worktree, 'tree'))).toContain('fsmonitor');
});

test('a hook that git runs while it only looks is a reason, wherever hooks are kept', async () => {
  expect(await repositoryDoubt(tempDirectory({ '.git/config': plain, '.git/hooks/post-index-change': '' }))).toContain(
    'hook',
  );
  const moved = { '.git/config': '[core]\n\thooksPath = .husky\n', '.husky/post-index-change': '' };
  expect(await repositoryDoubt(tempDirectory(moved))).toContain('hook');
  expect(await repositoryDoubt(tempDirectory({ '.git/config': plain, '.git/hooks/pre-commit': '' }))).toBeUndefined();
});

test('a configuration too large to read is a reason', async () => {
  expect(await repositoryDoubt(tempDirectory({ '.git/config': '#'.repeat(300_000) }))).toContain('cannot be read');
});

test('a repository that lies elsewhere is a reason unless it knows this work tree', async () => {
  const root = tempDirectory({
    'private/.git/config': plain,
    'private/.git/worktrees/a/commondir': '../..\n',
    'file/.git': 'gitdir: ../private/.git\n',
    'tree/.git': 'gitdir: ../private/.git/worktrees/a\n',
    'shared/.git/config': plain,
    'shared/.git/commondir': '../../private/.git\n',
    'borrowed/.git/config': plain,
    'borrowed/.git/objects/info/alternates': '../../../private/.git/objects\n',
    'link/a': '',
  });
  symlinkSync(join(root, 'private/.git'), join(root, 'link/.git'));
  for (const name of ['file', 'tree', 'shared', 'borrowed', 'link'])
    expect(await repositoryDoubt(join(root, name)), name).toContain('lies elsewhere');
  writeFileSync(join(root, 'private/.git/worktrees/a/gitdir'), `${join(root, 'tree/.git')}\n`);
  expect(await repositoryDoubt(join(root, 'tree'))).toBeUndefined();
});
