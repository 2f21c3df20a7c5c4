import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasProgram } from '../../../../../testing/programs.js';
import { outsideDirectory, tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import { childEnvironment } from '../run/environment.js';
import { CommandRunner } from '../run/run-command.js';
import { Sandbox, type SandboxOptions } from './sandbox.js';
import type { SandboxRights } from './sandbox-rights.js';

const usual: SandboxRights = { workspace: true, network: false, home: false, files: false, secrets: false };
const never = new AbortController().signal;

function sandboxed(root: string, options: Partial<SandboxOptions> = {}) {
  const latheHome = new LatheHome(tempDirectory());
  const userHome = options.userHome ?? tempDirectory();
  const path = '/usr/bin:/bin';
  const sandbox = new Sandbox({ mode: 'required', roots: [root], latheHome, userHome, path, ...options });
  onTestFinished(() => sandbox.close());
  const runner = new CommandRunner(latheHome);
  return async (command: string, rights: Partial<SandboxRights> = {}) => {
    const wrap = await sandbox.prepare(root, { ...usual, ...rights });
    const env = { ...childEnvironment(process.env), HOME: userHome, TMPDIR: '/tmp', PATH: options.path ?? path };
    const request = { command, cwd: root, env, ...(wrap && { wrap }) };
    return (await runner.run(request, { timeoutMs: 20_000, signal: never })).output.text().trimEnd();
  };
}

function git(cwd: string, ...args: string[]): void {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' };
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...args], { cwd, env, stdio: 'ignore' });
}

function repository(files: Record<string, string>): string {
  const root = outsideDirectory(files);
  git(root, 'init', '-qb', 'main');
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', 'first');
  return root;
}

describe.skipIf(!hasProgram('bwrap'))('the file system in the sandbox', () => {
  test('holds the system and nothing else that is not listed', async () => {
    const run = sandboxed(tempDirectory());
    const known = /^(bin|dev|etc|gnu|home|lib\w*|media|mnt|nix|opt|proc|root|run|sbin|snap|srv|sys|tmp|usr|var)$/;
    const names = (await run('ls -A /')).split('\n');
    expect(names).toEqual(expect.arrayContaining(['etc', 'proc', 'tmp', 'usr']));
    expect(names.filter((name) => !known.test(name))).toEqual([]);
    expect(await run('ls -A /srv /mnt /media 2>/dev/null | grep -v -e : -e "^$"')).toBe('');
    expect(await run('touch /new /srv/new')).toMatch(/^(.*(Read-only file system|No such file or directory)\n?){2}$/);
  });

  test('a directory elsewhere is read with a right, and is never written', async () => {
    const file = join(outsideDirectory({ 'data.csv': 'rows' }), 'data.csv');
    const run = sandboxed(tempDirectory());
    expect(await run(`cat ${file}`)).toMatch(/No such file or directory$/);
    expect(await run(`cat ${file}; echo x > ${file}`, { home: true })).toMatch(/^rows.*Read-only file system$/);
  });

  test('a program on PATH is there wherever it is installed', async () => {
    const tools = outsideDirectory({
      'tool/bin/hello': '#!/bin/sh\ncat $(dirname $0)/../lib/text',
      'tool/lib/text': 'hi',
    });
    chmodSync(join(tools, 'tool/bin/hello'), 0o755);
    writeFileSync(join(tools, 'other'), 'no');
    const run = sandboxed(tempDirectory(), { path: `${tools}/tool/bin:/usr/bin:/bin` });
    expect(await run(`hello; cat ${tools}/other`)).toMatch(/^hi.*No such file or directory$/);
  });

  test('git works in a linked work tree, whose repository is read-only', async () => {
    const main = repository({ a: 'a\n', secret: 'PLANTED\n' });
    const linked = join(outsideDirectory(), 'linked');
    git(main, 'worktree', 'add', '-q', linked);
    const run = sandboxed(linked);
    expect(await run('git log --format=%s; echo b >> a; git status --porcelain')).toBe('first\n M a');
    expect(await run(`cat ${main}/secret; echo x >> ${main}/.git/config`)).toMatch(
      /No such file or directory\n.*Read-only file system$/,
    );
  });

  test('a repository around the workspace is there, read-only', async () => {
    const outer = repository({ 'packages/a/x': 'x\n', 'tsconfig.json': '{}\n' });
    const run = sandboxed(join(outer, 'packages/a'));
    expect(await run('cat ../../tsconfig.json; echo y >> x; git status --porcelain')).toBe('{}\n M packages/a/x');
    expect(await run('echo x > ../../new')).toMatch(/Read-only file system$/);
  });

  test('a repository of the whole home directory is not', async () => {
    const userHome = repository({ '.ssh/id': 'PLANTED\n', 'project/x': '' });
    const run = sandboxed(join(userHome, 'project'), { userHome });
    expect(await run(`git --git-dir=${userHome}/.git show HEAD:.ssh/id; ls -A ~`)).toMatch(
      /^fatal: not a git repository/,
    );
    expect(await run('ls -A ~')).not.toContain('.git\n');
  });

  test.skipIf(process.getuid?.() !== 0)('root reads nothing in /etc that others may not', async () => {
    const directory = mkdtempSync('/etc/lathe-test-');
    onTestFinished(() => rmSync(directory, { recursive: true }));
    chmodSync(directory, 0o755);
    writeFileSync(join(directory, 'key'), 'PLANTED', { mode: 0o640 });
    writeFileSync(join(directory, 'config'), 'open', { mode: 0o644 });
    const run = sandboxed(tempDirectory());
    expect(await run(`cat ${directory}/* /etc/shadow- 2>/dev/null`)).toBe('open');
    expect(await run(`cat ${directory}/*`, { secrets: true })).toBe('openPLANTED');
  });

  test('a file named .git shows no directory that does not list the work tree', async () => {
    const userHome = outsideDirectory({ '.ssh/HEAD': 'ref: refs/heads/main\n', '.ssh/id': 'PLANTED' });
    for (const name of ['objects', 'refs', 'worktrees/w']) mkdirSync(join(userHome, '.ssh', name), { recursive: true });
    const root = tempDirectory();
    const run = sandboxed(root, { userHome });
    for (const place of ['.ssh', '.ssh/worktrees/w']) {
      writeFileSync(join(root, '.git'), `gitdir: ${userHome}/${place}\n`);
      expect(await run(`cat ${userHome}/.ssh/id`)).toMatch(/No such file or directory$/);
    }
  });
});
