import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createAgentLathe } from '../create-agent-lathe.js';
import { type OpenWorktree, openWorktree } from './worktrees.js';

const never = new AbortController().signal;
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'protocol.file.allow=always', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
  });

function repository(files: Record<string, string>, ...options: string[]): string {
  const root = tempDirectory(files);
  git(root, 'init', '-q', '-b', 'main', ...options);
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', 'first');
  return root;
}

/** Opens a worktree, changes it with `inside` and the original with `outside`, and brings the changes back. */
async function roundTrip(
  root: string,
  { from = 'now', inside, outside }: Pick<OpenWorktree, 'from'> & Record<'inside' | 'outside', (cwd: string) => void>,
) {
  const flags = { 'tools.approvalMode': 'yolo' };
  const lathe = await createAgentLathe({ cwd: root, env: { PATH: process.env['PATH'] }, home: tempDirectory(), flags });
  onTestFinished(() => lathe.close());
  const worktree = await openWorktree(lathe, { kind: 'task', from }, never);
  const status = () => git(worktree.cwd, 'status', '--short');
  const before = existsSync(join(worktree.cwd, '.git')) ? status() : 'no repository';
  inside(worktree.cwd);
  outside(root);
  const outcome = await worktree.merge({ by: 'x', into: lathe }, never);
  await worktree.remove();
  return { before, outcome };
}

const clone = (...options: string[]) => {
  const root = join(tempDirectory(), 'clone');
  const original = repository({ 'a.txt': 'a\n' });
  git(original, 'clone', '-q', ...options, `${options.includes('--shared') ? '' : 'file://'}${original}`, root);
  return root;
};

const withSubmodule = () => {
  const root = repository({ 'a.txt': 'a\n' });
  git(root, 'submodule', '--quiet', 'add', repository({ 's.txt': 's\n' }), 'sub');
  git(root, 'commit', '-qm', 'second');
  return root;
};

const states: Record<string, { make: () => string; from?: 'commit'; status?: string }> = {
  'no file and no commit': { make: () => repositoryWithout({}) },
  'no commit': { make: () => repositoryWithout({ 'a.txt': 'a\n' }), status: '?? a.txt\n' },
  'the last commit as the start': { make: () => changed(repository({ 'a.txt': 'a\n' })), from: 'commit' },
  'packed objects, from the last commit': {
    make: () => {
      const root = repository({ 'a.txt': 'a\n' });
      git(root, 'gc', '-q');
      return changed(root);
    },
    from: 'commit',
  },
  'a shallow history': { make: () => clone('--depth=1') },
  'a detached HEAD': {
    make: () => {
      const root = repository({ 'a.txt': 'a\n' });
      git(root, 'checkout', '-q', '--detach');
      return root;
    },
  },
  'locks of a git that runs or was killed': {
    make: () => {
      const root = repository({ 'a.txt': 'a\n' });
      for (const name of ['index.lock', 'HEAD.lock']) writeFileSync(join(root, '.git', name), '');
      return root;
    },
  },
  'a submodule': { make: withSubmodule },
  'a submodule, from the last commit': { make: withSubmodule, from: 'commit' },
  'a worktree of git': {
    make: () => {
      const root = join(tempDirectory(), 'linked');
      git(repository({ 'a.txt': 'a\n' }), 'worktree', 'add', '-q', root, '-b', 'other');
      return root;
    },
  },
  // Its objects cannot be borrowed, so the copy is plain files.
  'objects borrowed from elsewhere': { make: () => clone('--shared'), status: 'no repository' },
  'long object ids': {
    make: () => repository({ 'a.txt': 'a\n' }, '--object-format=sha256'),
    status: 'no repository',
  },
};

function repositoryWithout(files: Record<string, string>): string {
  const root = tempDirectory(files);
  git(root, 'init', '-q', '-b', 'main');
  return root;
}

function changed(root: string): string {
  writeFileSync(join(root, 'a.txt'), 'not committed\n');
  return root;
}

test.each(Object.entries(states))(
  'changes come back to a repository with %s',
  async (_, { make, from, status = '' }) => {
    const root = make();
    const refs = () => git(root, 'for-each-ref');
    const [before, files] = [refs(), git(root, 'status', '--short')];
    const inside = (cwd: string) => writeFileSync(join(cwd, 'new.txt'), 'new\n');
    const trip = await roundTrip(root, { inside, outside: () => {}, ...(from && { from }) });
    expect(trip).toEqual({ before: status, outcome: { applied: ['new.txt'], conflicts: [], rest: '', leftOut: [] } });
    expect(readFileSync(join(root, 'new.txt'), 'utf8')).toBe('new\n');
    expect([refs(), git(root, 'status', '--short')]).toEqual([before, `${files}?? new.txt\n`]);
  },
);

test('deletes, renames, modes, new and ignored files that are not committed stay as they are', async () => {
  const root = repository({
    'a.txt': 'a\n',
    'b.txt': 'b\n',
    'c.sh': 'c\n',
    'd/e.txt': 'e\n',
    '.gitignore': 'ignored\n',
  });
  rmSync(join(root, 'a.txt'));
  git(root, 'mv', 'b.txt', 'b2.txt');
  chmodSync(join(root, 'c.sh'), 0o755);
  writeFileSync(join(root, 'new.txt'), 'mine\n');
  writeFileSync(join(root, 'ignored'), 'mine\n');
  const { before, outcome } = await roundTrip(root, {
    inside: (cwd) => {
      renameSync(join(cwd, 'd'), join(cwd, 'moved'));
      chmodSync(join(cwd, 'c.sh'), 0o644);
      rmSync(join(cwd, 'new.txt'));
      writeFileSync(join(cwd, 'ignored'), 'theirs\n');
    },
    outside: () => {},
  });
  expect(before).toBe(' D a.txt\n D b.txt\n M c.sh\n?? b2.txt\n?? new.txt\n');
  expect(outcome).toMatchObject({ applied: ['c.sh', 'd/e.txt', 'moved/e.txt', 'new.txt'], conflicts: [] });
  expect(readdirSync(root).sort()).toEqual(['.git', '.gitignore', 'b2.txt', 'c.sh', 'ignored', 'moved']);
  expect(readFileSync(join(root, 'ignored'), 'utf8')).toBe('mine\n');
});

test('what changed on both sides is merged, or stays as it is and is reported', async () => {
  const lines = (first: string, last: string) => `${[first, 2, 3, 4, 5, 6, last].join('\n')}\n`;
  const root = repository({
    'merged.txt': lines('1', '7'),
    'same.txt': 'old\n',
    'gone.txt': 'g\n',
    '.gitignore': 'out\n',
  });
  const { outcome } = await roundTrip(root, {
    inside: (cwd) => {
      writeFileSync(join(cwd, 'merged.txt'), lines('theirs', '7'));
      for (const name of ['same.txt', 'gone.txt', 'added.txt']) writeFileSync(join(cwd, name), 'theirs\n');
      // What the original ignores is not in any snapshot of it.
      writeFileSync(join(cwd, '.gitignore'), '\n');
      mkdirSync(join(cwd, 'out'));
      writeFileSync(join(cwd, 'out', 'file'), 'theirs\n');
    },
    outside: (cwd) => {
      writeFileSync(join(cwd, 'merged.txt'), lines('1', 'mine'));
      for (const name of ['same.txt', 'added.txt']) writeFileSync(join(cwd, name), 'mine\n');
      rmSync(join(cwd, 'gone.txt'));
      mkdirSync(join(cwd, 'out'));
      writeFileSync(join(cwd, 'out', 'file'), 'mine\n');
    },
  });
  const conflicts = ['added.txt', 'gone.txt', 'same.txt', 'out/file'];
  expect(outcome).toMatchObject({ applied: ['.gitignore', 'merged.txt'], conflicts });
  for (const path of conflicts) expect(outcome.rest).toContain(`+++ b/${path}\n`);
  expect(readFileSync(join(root, 'merged.txt'), 'utf8')).toBe(lines('theirs', 'mine'));
  for (const path of ['added.txt', 'same.txt', 'out/file'])
    expect(readFileSync(join(root, path), 'utf8')).toBe('mine\n');
  expect(existsSync(join(root, 'gone.txt'))).toBe(false);
});
