import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { gitFiles } from '../../../../../testing/git-files.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { childEnvironment, unattendedVariables } from '../run/environment.js';
import { analyzeCommand } from './analyze-command.js';
import { obeyedByGit, repositoryDoubt } from './git-repository.js';

const plain =
  '[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote "origin"]\n\turl = a\n[branch "main"]\n\tremote = origin\n';

test('a regular repository and a directory without one raise no doubt', async () => {
  expect(await repositoryDoubt(tempDirectory(gitFiles(plain)))).toBeUndefined();
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
  '[remote "origin"]\n\tpartialclonefilter = blob:none',
  '[remote "origin"]\n\tpartialCloneFilter=blob:none',
  '[format]\n\tpretty = %G?',
  '[format]\n\tpretty = %h%+G?',
  '[format]\n\tpretty = %- G?%-GS',
  '[format]\n\tpretty = %"G"?',
  '[format]\n\tpretty = %\\\nG?',
  '[core]\n\tfsmonitor = false/evil',
  '[core]\n\tfsmonitor = 0/../evil',
  '[core]\n\tfsmonitor = false";./evil"',
  '[core]\n\tfsmonitor = false\u2028/../evil',
  '[core]\n\tfsmonitor = 0\r/../evil',
  '[core]\n\tfsmonitor = false\\\n;./evil',
  '[core] hooksPath = evil-hooks',
  '[core] hooksPath = none\n\thooksPath = "evil-hooks"',
  '[core] hooksPath = "evil#hooks"',
  '[core] hooksPath = "evil;hooks"',
  '[core]\n\thooksPath = evil\\\n-hooks',
  '[core]\n\thooksPath = %(prefix)/evil-hooks',
  '[core]\n\thooksPath = ~/evil-hooks',
  '[core]\n\thooksPath = "evil-hooks "',
  '[core]\n\thooksPath = evil-hooks\u00a0',
  '[blame]\n\tignoreRevsFile = /outside/token',
  '[blame]\n\tignoreRevsFile = ../token',
  '[blame]\n\tignoreRevsFile = gone',
  '[core]\n\texcludesFile = ~/token',
  '[core] attributesFile="/outside/token"',
  '[mailmap]\n\tfile = /outside/token',
  '[diff]\n\torderFile = a\\\n/token',
  '[submodule]\n\trecurse = true',
  '[status]\n\tsubmoduleSummary = true',
  '[diff]\n\tsubmodule = diff',
])('a configuration that can make git run a program raises a doubt: %j', async (section) => {
  const root = tempDirectory({
    ...gitFiles(`${plain}${section}\n`),
    'false\u2028/a': '',
    '0\r/a': '',
    'src/a': '',
    'evil-hooks/post-index-change': '',
  });
  expect(await repositoryDoubt(join(root, 'src'))).toEqual(expect.any(String));
  const options = { cwd: root, workspaceRoots: [root], home: '/', path: '/usr/bin' };
  expect((await analyzeCommand('git status', options)).isReadOnly).toBe(false);
  expect((await analyzeCommand('cd src && git -C . log', options)).isReadOnly).toBe(false);
});

test('a configuration of spaces is judged in linear time', async () => {
  const root = tempDirectory(gitFiles(`${plain}[core]\n\texcludesFile = a${' '.repeat(200_000)}x\n`));
  expect(await repositoryDoubt(root)).toContain('elsewhere');
});

test('a submodule raises a doubt, also in a shared index or a sparse directory', async () => {
  const root = tempDirectory({ 'sub/a': '', 'b/c': '' });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...args], { cwd: root, stdio: 'pipe' });
  git('init', '-q');
  git('-C', 'sub', 'init', '-q');
  git('-C', 'sub', 'commit', '-q', '--allow-empty', '-m', 'a');
  git('add', 'b');
  expect(await repositoryDoubt(root)).toBeUndefined();
  git('update-index', '--split-index');
  expect(await repositoryDoubt(root)).toBeUndefined();
  git('add', 'sub');
  expect(await repositoryDoubt(root)).toContain('submodules');
  git('update-index', '--no-split-index');
  git('update-index', '--split-index');
  expect(await repositoryDoubt(root)).toContain('submodules');
  git('update-index', '--no-split-index');
  const index = readFileSync(join(root, '.git/index'));
  const mode = index.indexOf(Buffer.from([0, 0, 0xe0, 0]));
  index.writeUInt32BE(0o40000, mode);
  writeFileSync(join(root, '.git/index'), index);
  for (const name of readdirSync(join(root, '.git')).filter((entry) => entry.startsWith('sharedindex')))
    rmSync(join(root, '.git', name));
  expect(await repositoryDoubt(root)).toContain('submodules');
});

test('the history of a repository cannot make git run a program named by another one', async () => {
  const root = tempDirectory({ 'sub/f': '1', 'evil.sh': '#!/bin/sh\ntouch "$(dirname "$0")/canary"\n' });
  chmodSync(join(root, 'evil.sh'), 0o755);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...args], { cwd: root, stdio: 'pipe' });
  git('init', '-q');
  git('-C', 'sub', 'init', '-q');
  for (const name of ['one', 'two']) {
    writeFileSync(join(root, 'sub/f'), name);
    git('-C', 'sub', 'add', 'f');
    git('-C', 'sub', 'commit', '-qm', name);
    git('add', 'sub');
    git('commit', '-qm', name);
  }
  git('rm', '-q', '--cached', 'sub');
  git('commit', '-qm', 'gone');
  git('-C', 'sub', 'config', 'diff.external', join(root, 'evil.sh'));
  // As it may be in the settings of a user.
  const home = tempDirectory({ '.gitconfig': '[diff]\n\tsubmodule = diff\n' });
  const options = { cwd: root, workspaceRoots: [root], home, path: '/usr/bin' };
  expect((await analyzeCommand('git log -p', options)).isReadOnly).toBe(true);
  expect((await analyzeCommand('git log -p --submodule=diff', options)).isReadOnly).toBe(false);
  const env = childEnvironment({ PATH: process.env['PATH'], HOME: home }, { set: unattendedVariables });
  execFileSync('git', ['log', '-p'], { cwd: root, env });
  expect(existsSync(join(root, 'canary'))).toBe(false);
  execFileSync('git', ['log', '-p'], { cwd: root, env: { PATH: process.env['PATH'], HOME: home } });
  expect(existsSync(join(root, 'canary'))).toBe(true);
});

test('settings of a project make npm ls need approval, those of the user do not', async () => {
  const home = tempDirectory({ '.npmrc': 'loglevel=error', 'project/package.json': '{}', 'project/src/a': '' });
  const options = { cwd: join(home, 'project/src'), workspaceRoots: [home], home, path: '/usr/bin' };
  for (const command of ['npm ls', 'npm list --json', 'npm root', 'npm prefix'])
    expect((await analyzeCommand(command, options)).isReadOnly, command).toBe(true);
  writeFileSync(join(home, 'project/.npmrc'), 'logs-dir=/somewhere/else\n');
  for (const command of ['npm ls', 'npm list --json', 'npm root', 'npm prefix', 'cd .. && npm ls'])
    expect((await analyzeCommand(command, options)).isReadOnly, command).toBe(false);
});

test('npm searches for settings above the target of a symlink', async () => {
  const root = tempDirectory({ 'sub/.npmrc': 'logs-dir=x', 'sub/deep/package.json': '{}' });
  symlinkSync('sub/deep', join(root, 'link'));
  const options = { cwd: root, workspaceRoots: [root], home: '/home/somebody', path: '/usr/bin:/bin' };
  expect((await analyzeCommand('cd link && npm ls', options)).doubts).toEqual([
    `In ${join(root, 'link')}, the settings in ${join(root, 'sub/.npmrc')} can make npm write files.`,
  ]);
});

test('a disabled fsmonitor raises no doubt', async () => {
  expect(await repositoryDoubt(tempDirectory(gitFiles('[core]\n\tfsmonitor = false\n')))).toBeUndefined();
});

test('a directory that looks like a git directory raises a doubt', async () => {
  const root = tempDirectory({
    HEAD: 'ref: x',
    'objects/a': '',
    'refs/a': '',
    config: '[core]\n\tfsmonitor = ./evil\n',
  });
  expect(await repositoryDoubt(root)).toContain('looks like a repository');
});

test('the directory that a .git file names is checked, with its common directory', async () => {
  const evil = '[core]\n\tfsmonitor = ./evil\n';
  const linked = tempDirectory({ '.git': 'gitdir: .real\n', ...gitFiles(evil, '.real') });
  expect(await repositoryDoubt(linked)).toContain('fsmonitor');
  const worktree = tempDirectory({
    'tree/.git': 'gitdir: ../real/worktrees/a\n',
    'real/worktrees/a/HEAD': 'ref: refs/heads/a\n',
    'real/worktrees/a/commondir': '../..\n',
    'real/worktrees/a/gitdir': '../../../tree/.git\n',
    ...gitFiles(evil, 'real'),
  });
  expect(await repositoryDoubt(join(worktree, 'tree'))).toContain('fsmonitor');
});

test('a hook that read-only commands run raises a doubt, in any hooks directory', async () => {
  expect(await repositoryDoubt(tempDirectory({ ...gitFiles(), '.git/hooks/post-index-change': '' }))).toContain('hook');
  const moved = { ...gitFiles('[core]\n\thooksPath = .husky\n'), '.husky/post-index-change': '' };
  expect(await repositoryDoubt(tempDirectory(moved))).toContain('hook');
  expect(await repositoryDoubt(tempDirectory({ ...gitFiles(), '.git/hooks/pre-commit': '' }))).toBeUndefined();
});

test('a hook that read-only commands run raises a doubt where the user configured its directory', async () => {
  const root = tempDirectory({ ...gitFiles(), '.githooks/post-index-change': '' });
  const home = tempDirectory({ '.gitconfig': '[core]\n\thooksPath = .githooks\n' });
  expect([await repositoryDoubt(root, home), await repositoryDoubt(root, tempDirectory())]).toEqual([
    expect.stringContaining('hook'),
    undefined,
  ]);
});

test('git obeys what every configuration that it may read names', async () => {
  const home = tempDirectory({
    '.gitconfig': '[core]\n\thooksPath = ~/shared # mine\n# hooksPath = no\n[includeIf "gitdir:~/"]\n\tpath = more\n',
    more: '[core]hooksPath="with # sign"\n[include]\npath = ./more\n',
    'xdg/git/config': '[CORE]\nHOOKSPATH = split\\\n-line\n',
    global: '[core]\nhooksPath = /global\n',
  });
  const config = '[core]\n\thooksPath = linked/hooks\n[extensions]\n\tobjectFormat = sha256\n';
  const root = tempDirectory({
    ...gitFiles(config),
    '.git/objects/info/alternates': '/elsewhere\n',
    'real/hooks/pre-commit': '',
    'sub/a': '',
  });
  symlinkSync('real', join(root, 'linked'));
  const system = { GIT_CONFIG_SYSTEM: '/dev/null' };
  const own = [join(root, 'linked/hooks'), join(root, 'real/hooks')];
  const inHome = [join(home, 'shared'), join(home, 'more'), join(root, 'with # sign')];
  const env = { ...system, XDG_CONFIG_HOME: join(home, 'xdg') };
  const found = await obeyedByGit(join(root, 'sub'), { home, env });
  expect(found.toSorted()).toEqual([...own, ...inHome, join(root, 'split-line')].toSorted());
  const replaced = { ...system, GIT_CONFIG_GLOBAL: join(home, 'global') };
  expect((await obeyedByGit(root, { home, env: replaced })).toSorted()).toEqual([...own, '/global'].toSorted());
  expect(await obeyedByGit(join(home, 'xdg'), { home, env: replaced })).toEqual(['/global']);
});

test('a configuration that is too large to read raises a doubt', async () => {
  expect(await repositoryDoubt(tempDirectory(gitFiles('#'.repeat(300_000))))).toContain('cannot be read');
});

test('a repository elsewhere raises a doubt unless it lists this work tree', async () => {
  const root = tempDirectory({
    ...gitFiles(plain, 'private/.git'),
    'private/.git/worktrees/a/HEAD': 'ref: refs/heads/a\n',
    'private/.git/worktrees/a/commondir': '../..\n',
    'file/.git': 'gitdir: ../private/.git\n',
    'tree/.git': 'gitdir: ../private/.git/worktrees/a\n',
    ...gitFiles(plain, 'shared/.git'),
    'shared/.git/commondir': '../../private/.git\n',
    ...gitFiles(plain, 'borrowed/.git'),
    'borrowed/.git/objects/info/alternates': '../../../private/.git/objects\n',
    'link/a': '',
  });
  symlinkSync(join(root, 'private/.git'), join(root, 'link/.git'));
  for (const name of ['file', 'tree', 'shared', 'borrowed', 'link'])
    expect(await repositoryDoubt(join(root, name)), name).toContain('elsewhere');
  writeFileSync(join(root, 'private/.git/worktrees/a/gitdir'), `${join(root, 'tree/.git')}\n`);
  expect(await repositoryDoubt(join(root, 'tree'))).toBeUndefined();
});

test('a repository that git may ignore or parse differently raises a doubt', async () => {
  const evil = '[core]\n\tfsmonitor = ./evil\n';
  const root = tempDirectory({
    ...gitFiles(),
    'empty/.git/a': '',
    'head/.git/a': '',
    ...gitFiles(plain, 'head/.git'),
    'head/.git/HEAD': 'nothing\n',
    'blank/.git': 'gitdir: gd \n',
    ...gitFiles(plain, 'blank/gd'),
    ...gitFiles(evil, 'blank/gd '),
    'lines/.git': 'gitdir: good\n/../evil',
    ...gitFiles(plain, 'lines/good'),
    ...gitFiles(evil, 'lines/evil'),
    'climb/.git': 'gitdir: link/../good\n',
    ...gitFiles(plain, 'climb/good'),
    ...gitFiles(evil, 'climb/a/good'),
    'climb/a/b/c': '',
    'long/.git': `gitdir: ${'a'.repeat(5000)}\n`,
    ...gitFiles(evil, 'bare'),
    'bare/.git/a': '',
    'dangling/objects/a': '',
    'dangling/refs/a': '',
    'shared/HEAD': 'ref: refs/heads/main\n',
    'shared/commondir': '../bare\n',
    ...gitFiles(evil, 'other/.git'),
    'other/src/a': '',
  });
  symlinkSync('a/b', join(root, 'climb/link'));
  symlinkSync('refs/heads/main', join(root, 'dangling/HEAD'));
  symlinkSync('other/src', join(root, 'elsewhere'));
  for (const name of ['empty', 'head', 'blank', 'lines', 'climb', 'long', 'bare', 'dangling', 'shared', 'elsewhere'])
    expect(await repositoryDoubt(join(root, name)), name).toEqual(expect.any(String));
  expect(await repositoryDoubt(root)).toBeUndefined();
});

test.each([
  'HEAD',
  'objects',
  'refs',
  'objects/pack',
  'objects/pack/a.pack',
  'rebase-merge/done',
  'worktrees/ab/gitdir',
])('a symlink at .git/%s raises a doubt', async (name) => {
  const outside = tempDirectory(gitFiles());
  const root = tempDirectory(gitFiles());
  const path = join(root, '.git', name);
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { recursive: true, force: true });
  symlinkSync(join(outside, '.git', name), path);
  expect(await repositoryDoubt(root)).toEqual(expect.any(String));
});

test('repositories as git creates them raise no doubt, nor do symlinked hooks and a file in the work tree', async () => {
  const root = tempDirectory({ 'main/ignored-revs': '', 'hooks/pre-commit': '' });
  const main = join(root, 'main');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...args], { cwd: main, stdio: 'pipe' });
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'a');
  git('worktree', 'add', '-q', '-b', 'other', '../my tree');
  git('gc', '-q');
  git('config', 'blame.ignoreRevsFile', 'ignored-revs');
  rmSync(join(main, '.git/hooks'), { recursive: true });
  symlinkSync(join(root, 'hooks'), join(main, '.git/hooks'));
  expect(await repositoryDoubt(main)).toBeUndefined();
  expect(await repositoryDoubt(join(root, 'my tree'))).toBeUndefined();
  git('checkout', '-q', '--detach');
  git('init', '-q', '--separate-git-dir', join(main, '.moved'));
  expect(await repositoryDoubt(main)).toBeUndefined();
});
