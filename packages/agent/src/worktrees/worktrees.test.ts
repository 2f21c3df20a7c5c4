import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bundleChild } from '../../../../testing/bundle.js';
import { isLong, report, seed } from '../../../../testing/long-run.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createAgentLathe } from '../create-agent-lathe.js';
import { keptWorktrees, openWorktree, removeLeftovers } from './worktrees.js';

const never = new AbortController().signal;
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd, encoding: 'utf8' });

function repository(files: Record<string, string>): string {
  const root = tempDirectory(files);
  git(root, 'init', '-q', '-b', 'main');
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', 'first');
  return root;
}

async function place(root: string, home = tempDirectory()) {
  const lathe = await createAgentLathe({ cwd: root, env: { PATH: process.env['PATH'] }, home });
  onTestFinished(() => lathe.close());
  return lathe;
}

const leftIn = (home: string) => {
  const state = join(home, '.lathe');
  const worktrees = existsSync(join(state, 'worktrees')) ? readdirSync(join(state, 'worktrees')) : [];
  const rewind = existsSync(join(state, 'rewind')) ? readdirSync(join(state, 'rewind'), { recursive: true }) : [];
  const list = existsSync(join(state, 'worktrees.json')) ? readFileSync(join(state, 'worktrees.json'), 'utf8') : '';
  const records = list.match(/"id": .*/g) ?? [];
  return [
    ...worktrees,
    ...records,
    ...rewind.map(String).filter((name) => name.includes('copy-') || name.includes('merge-')),
  ];
};

test('a worktree has the uncommitted work, or starts from the last commit, and is a repository of its own', async () => {
  const root = repository({ 'a.txt': 'one\n', '.gitignore': 'ignored\n' });
  writeFileSync(join(root, 'a.txt'), 'two\n');
  writeFileSync(join(root, 'new.txt'), 'new\n');
  writeFileSync(join(root, 'ignored'), 'x');
  const home = tempDirectory();
  const here = await place(root, home);
  const now = await openWorktree(here, { kind: 'task' }, never);
  expect(git(now.cwd, 'status', '--short')).toBe(' M a.txt\n?? new.txt\n');
  expect(existsSync(join(now.cwd, 'ignored'))).toBe(false);
  git(now.cwd, 'commit', '-qam', 'inside');
  expect(git(now.cwd, 'log', '--format=%s').trim()).toBe('inside\nfirst');
  expect(git(root, 'log', '--all', '--format=%s').trim()).toBe('first');
  const committed = await openWorktree(here, { kind: 'task', from: 'commit' }, never);
  expect(readFileSync(join(committed.cwd, 'a.txt'), 'utf8')).toBe('one\n');
  expect(git(committed.cwd, 'status', '--short')).toBe('');
  // A commit is not a change of files: only what differs from the start counts.
  expect((await now.changes(never)).files).toEqual([]);
  await now.remove();
  await committed.remove();
  expect(leftIn(home)).toEqual([]);
});

test('a repository that fetches missing objects runs no program', async () => {
  const root = repository({ 'a.txt': 'one\n' });
  const marker = join(tempDirectory(), 'ran');
  const head = git(root, 'rev-parse', 'HEAD').trim();
  const settings = {
    'core.repositoryFormatVersion': '1',
    'extensions.partialClone': 'origin',
    'remote.origin.promisor': 'true',
    'remote.origin.url': root,
    'remote.origin.uploadpack': `touch ${marker}; git-upload-pack`,
  };
  for (const [key, value] of Object.entries(settings)) git(root, 'config', key, value);
  rmSync(join(root, '.git/objects', head.slice(0, 2), head.slice(2)));
  await openWorktree(await place(root), { kind: 'task' }, never);
  expect(existsSync(marker)).toBe(false);
});

test.each(['info/exclude', 'shallow', 'objects/info'])(
  'a symlink in place of %s in a repository brings no file from elsewhere into a worktree',
  async (name) => {
    const main = repository({ 'a.txt': 'one\n' });
    const linked = join(tempDirectory(), 'linked');
    git(main, 'worktree', 'add', '-q', linked);
    const elsewhere = tempDirectory({ 'key/alternates': 'secret\n' });
    const key = join(elsewhere, name === 'objects/info' ? 'key' : 'key/alternates');
    rmSync(join(main, '.git', name), { recursive: true, force: true });
    symlinkSync(key, join(main, '.git', name));
    for (const root of [main, linked]) {
      const { cwd } = await openWorktree(await place(root), { kind: 'task' }, never);
      const all = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const texts = all.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
      expect(texts.filter((text) => text.includes('secret'))).toEqual([]);
      expect(texts).toContain('one\n');
    }
  },
);

test('a patch of the changes applies with git, binary files and modes included', async () => {
  const root = repository({ 'a.txt': 'one\n', 'gone.txt': 'g\n' });
  const worktree = await openWorktree(await place(root), { kind: 'task' }, never);
  writeFileSync(join(worktree.cwd, 'a.txt'), 'one\ntwo\n');
  writeFileSync(join(worktree.cwd, 'bytes.bin'), Buffer.from([0, 255, 1, 254]));
  writeFileSync(join(worktree.cwd, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  git(worktree.cwd, 'rm', '-q', 'gone.txt');
  const { patch, files } = await worktree.changes(never);
  expect(files.map(({ path }) => path)).toEqual(['a.txt', 'bytes.bin', 'gone.txt', 'run.sh']);
  const other = tempDirectory();
  git(other, 'clone', '-q', root, 'clone');
  execFileSync('git', ['apply'], { cwd: join(other, 'clone'), input: patch });
  expect(git(join(other, 'clone'), 'status', '--short')).toBe(' M a.txt\n D gone.txt\n?? bytes.bin\n?? run.sh\n');
  await worktree.remove();
});

test('a patch has the exact bytes of texts in other encodings, and of files whose names are not UTF-8', async () => {
  const root = repository({ 'a.txt': 'one\n', link: 'a file\n' });
  const latin = Buffer.from('caf\u00e9\n', 'latin1');
  writeFileSync(join(root, 'latin.txt'), latin);
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', 'latin');
  const worktree = await openWorktree(await place(root), { kind: 'task' }, never);
  const inCopy = (name: string) => Buffer.concat([Buffer.from(`${worktree.cwd}/`), Buffer.from(name, 'latin1')]);
  const changed = Buffer.concat([latin, latin]);
  writeFileSync(join(worktree.cwd, 'a.txt'), 'two\n');
  writeFileSync(join(worktree.cwd, 'latin.txt'), changed);
  writeFileSync(inCopy('caf\u00e9.txt'), 'named\n');
  rmSync(join(worktree.cwd, 'link'));
  symlinkSync('a.txt', join(worktree.cwd, 'link'));
  const { patch } = await worktree.changes(never);
  expect(patch).toContain('+two');
  const clone = join(tempDirectory(), 'clone');
  git(root, 'clone', '-q', root, clone);
  execFileSync('git', ['apply'], { cwd: clone, input: patch });
  expect(readFileSync(join(clone, 'latin.txt'))).toEqual(changed);
  expect(readFileSync(Buffer.concat([Buffer.from(`${clone}/`), Buffer.from('caf\u00e9.txt', 'latin1')]), 'utf8')).toBe(
    'named\n',
  );
  expect(readFileSync(join(clone, 'link'), 'utf8')).toBe('two\n');
  await worktree.remove();
});

test('attributes of the repository do not hide a change from the person who reads the patch', async () => {
  const root = repository({ '.gitattributes': '*.sh -diff\n*.js binary\n*.c diff=c\n', 'a.c': 'int a;\n' });
  const worktree = await openWorktree(await place(root), { kind: 'task' }, never);
  for (const name of ['a.sh', 'a.js', 'a.c']) writeFileSync(join(worktree.cwd, name), `bad ${name}\n`);
  const { patch } = await worktree.changes(never);
  expect(patch.match(/^\+bad .*/gm)).toEqual(['+bad a.c', '+bad a.js', '+bad a.sh']);
  await worktree.remove();
});

test('a named worktree of a session is opened again, by one process at a time', async () => {
  const root = repository({ 'a.txt': 'one\n' });
  const here = await place(root);
  const first = await openWorktree(here, { kind: 'session', name: 'fix' }, never);
  writeFileSync(join(first.cwd, 'a.txt'), 'changed\n');
  await expect(openWorktree(here, { kind: 'session', name: 'fix' }, never)).rejects.toThrow('in use');
  await first.release();
  expect(await keptWorktrees(here)).toEqual(['fix']);
  await removeLeftovers(here);
  const again = await openWorktree(here, { kind: 'session', name: 'fix' }, never);
  expect(again.cwd).toBe(first.cwd);
  expect((await again.changes(never)).files.map(({ path }) => path)).toEqual(['a.txt']);
  await again.remove();
  expect(await keptWorktrees(here)).toEqual([]);
});

test('names of worktrees that differ only in case are one name, as on a Mac they are one directory', async () => {
  const root = repository({ 'a.txt': 'one\n' });
  const here = await place(root);
  const first = await openWorktree(here, { kind: 'session', name: 'fix' }, never);
  await first.release();
  const again = await openWorktree(here, { kind: 'session', name: 'Fix' }, never);
  expect([again.cwd, again.name]).toEqual([first.cwd, 'fix']);
  await again.remove();
});

test('of several that want a worktree of one name at once, one gets it', async () => {
  const here = await place(repository({ 'a.txt': 'one\n' }));
  const wanted = [1, 2, 3].map(() => openWorktree(here, { kind: 'session', name: 'fix' }, never));
  const outcomes = await Promise.allSettled(wanted);
  const got = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  expect(got).toHaveLength(1);
  for (const worktree of got) expect(readFileSync(join(worktree.cwd, 'a.txt'), 'utf8')).toBe('one\n');
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(2);
});

test('killed at a random moment, a process leaves nothing that the next start does not remove', async () => {
  const root = repository(
    Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`d${at % 9}/f${at}.txt`, `${at}\n`])),
  );
  const status = git(root, 'status', '--short');
  const home = tempDirectory();
  const rounds = isLong ? 40 : 2;
  const script = await bundleChild('open-worktrees');
  let left = 0;
  for (let round = 0; round < rounds; round++) {
    const child = spawn(process.execPath, [script, root, home], { stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = new Promise((resolve) => child.once('close', resolve));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    setTimeout(() => child.kill('SIGKILL'), ((seed + round * 997) % 1000) + 10);
    await closed;
    left += leftIn(home).length;
    await removeLeftovers(await place(root, home));
    expect(leftIn(home)).toEqual([]);
  }
  if (isLong) expect(left).toBeGreaterThan(0);
  expect(git(root, 'status', '--short')).toBe(status);
  expect(git(root, 'for-each-ref', '--format=%(refname)').trim()).toBe('refs/heads/main');
  report('worktrees', rounds, { leftovers: left });
}, 300_000);

test('tools of the project that a person agreed to are in a worktree too', async () => {
  const root = repository({
    '.lathe/settings.json': JSON.stringify({
      tools: { toolDiscoveryCommand: 'cat tools.json', toolCallCommand: 'echo' },
      mcpServers: { units: { command: process.execPath, args: ['server.mjs'] } },
    }),
    '.lathe/tools/from-file.mjs': `export default ${JSON.stringify({ name: 'from_file' })};`,
    'tools.json': '[]',
    'server.mjs': 'process.exit(7);',
  });
  const asked: string[] = [];
  const home = tempDirectory({ '.lathe/settings.json': '{"security":{"folderTrust":{"enabled":false}}}' });
  chmodSync(join(home, '.lathe'), 0o700);
  chmodSync(join(home, '.lathe/settings.json'), 0o600);
  const lathe = await createAgentLathe({
    cwd: root,
    home,
    env: { PATH: process.env['PATH'] },
    approver: { decide: async ({ tool }) => ({ outcome: asked.push(tool) > 3 ? 'deny' : 'once' }) },
  });
  onTestFinished(() => lathe.close());
  await lathe.discover(never);
  expect(asked.toSorted()).toEqual(['discovery-command', 'mcp-server', 'tool-files']);
  const worktree = await openWorktree(lathe, { kind: 'task' }, never);
  onTestFinished(() => worktree.remove());
  const inner = await lathe.openIn(worktree);
  onTestFinished(() => inner.close());
  await inner.discover(never);
  expect(asked).toHaveLength(3);
  // A file that was changed there is another file.
  writeFileSync(join(worktree.cwd, '.lathe/tools/from-file.mjs'), 'export default [];');
  expect([...(await inner.discover(never)).keys()]).toContain('.lathe/tools');
  expect(asked.slice(3)).toEqual(['tool-files']);
});
