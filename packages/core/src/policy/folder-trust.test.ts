import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { LatheHome } from '../files/lathe-home.js';
import { FolderTrust } from './folder-trust.js';

function setUp(...folders: string[]) {
  const base = tempDirectory();
  for (const folder of ['project', ...folders]) mkdirSync(join(base, folder), { recursive: true });
  const home = new LatheHome(join(base, 'home'));
  return {
    base,
    project: join(base, 'project'),
    home,
    store: home.file('trusted-folders.json'),
    trust: new FolderTrust(home),
  };
}

test('a folder is unknown, then trusted, then not, then unknown again', async () => {
  const { project, trust } = setUp();
  const states = [await trust.state(project)];
  await trust.trust(project);
  states.push(await trust.state(project));
  await trust.distrust(project);
  states.push(await trust.state(project));
  expect(await trust.list()).toMatchObject([{ path: project, state: 'untrusted' }]);
  await trust.forget(project);
  states.push(await trust.state(project));
  expect(states).toEqual(['unknown', 'trusted', 'untrusted', 'unknown']);
});

// SE12
test('decisions are stored in a private file for the next process', async () => {
  const { project, home, store, trust } = setUp();
  await trust.trust(project);
  expect(await new FolderTrust(home).state(project)).toBe('trusted');
  expect([statSync(store).mode & 0o777, statSync(home.path).mode & 0o777]).toEqual([0o600, 0o700]);
});

// SE07
test('trust extends down to the next repository, worktree or submodule and not to siblings or parents', async () => {
  const { base, project, trust } = setUp(
    'project/.git',
    'project/src/deep',
    'project/vendor/clone/.git',
    'project/vendor/clone/src',
    'project/bare/objects',
    'project/bare/refs',
    'project/sub',
    'project2',
  );
  writeFileSync(join(project, 'sub/.git'), 'gitdir: ../.git/modules/sub');
  writeFileSync(join(project, 'bare/HEAD'), 'ref: refs/heads/main');
  await trust.trust(project);
  const state = (path: string) => trust.state(join(base, path));
  expect(await state('project/src/deep')).toBe('trusted');
  expect(await state('project/vendor')).toBe('trusted');
  for (const path of [
    'project/vendor/clone',
    'project/vendor/clone/src',
    'project/sub',
    'project/bare',
    'project2',
    '.',
  ]) {
    expect([path, await state(path)]).toEqual([path, 'unknown']);
  }
  await trust.trust(join(project, 'vendor/clone'));
  expect(await state('project/vendor/clone/src')).toBe('trusted');
});

// SE07
test('distrust overrides inherited trust and extends into repositories; a nearer trust overrides it', async () => {
  const { project, trust } = setUp('project/bad/repo/.git', 'project/bad/good');
  await trust.trust(project);
  await trust.distrust(join(project, 'bad'));
  await trust.trust(join(project, 'bad/good'));
  expect(await trust.state(join(project, 'bad'))).toBe('untrusted');
  expect(await trust.state(join(project, 'bad/repo'))).toBe('untrusted');
  expect(await trust.state(join(project, 'bad/good'))).toBe('trusted');
});

// SE07, SE08
test('a symlink is judged by its target', async () => {
  const { base, project, trust } = setUp('elsewhere', 'project/inside');
  symlinkSync(join(base, 'elsewhere'), join(project, 'link'));
  symlinkSync(project, join(base, 'alias'));
  await trust.trust(join(base, 'alias'));
  expect(await trust.state(join(project, 'link'))).toBe('unknown');
  expect(await trust.state(join(base, 'alias/inside'))).toBe('trusted');
  expect(await trust.list()).toMatchObject([{ path: project }]);
});

// SE08
test('a folder that replaces a trusted one asks again, and so does a moved one', async () => {
  const { base, project, trust } = setUp('other', 'project/sub');
  await trust.trust(project);
  renameSync(project, join(base, 'moved'));
  expect(await trust.state(join(base, 'moved'))).toBe('unknown');
  renameSync(join(base, 'other'), project);
  mkdirSync(join(project, 'sub'));
  expect(await trust.state(project)).toBe('unknown');
  expect(await trust.state(join(project, 'sub'))).toBe('unknown');
});

// SE08
test('a new folder with the same inode number asks again', async () => {
  const { project, store, trust } = setUp();
  await trust.trust(project);
  rewrite(store, (record) => ({ ...record, born: '1' }));
  expect(await trust.state(project)).toBe('unknown');
  rmSync(project, { recursive: true });
  mkdirSync(project);
  expect(await trust.state(project)).toBe('unknown');
});

test('a record that names no more than an inode does not count', async () => {
  const { project, store, trust } = setUp();
  await trust.trust(project);
  rewrite(store, (record) => Object.fromEntries(Object.entries(record).filter(([name]) => name !== 'born')));
  expect(await trust.state(project)).toBe('unknown');
});

test('a folder that was created a moment ago is known by its creation time', async () => {
  const { project, trust } = setUp();
  await trust.trust(project);
  const { birthtimeNs } = statSync(project, { bigint: true });
  expect(await trust.list()).toMatchObject([{ path: project, born: `${birthtimeNs}` }]);
});

test('where creation times are not recorded, the start of the history identifies a folder', async () => {
  const { project, store, trust } = setUp('project/.git/logs');
  const log = join(project, '.git/logs/HEAD');
  const first = `${'0'.repeat(40)} ${'1'.repeat(40)} A <a@b> 1 +0000\tclone: from x`;
  await trust.trust(project);
  const origin = createHash('sha256').update(first).digest('hex');
  const isKept = ([name]: [string, string]) => name !== 'born';
  rewrite(store, (record) => ({ ...Object.fromEntries(Object.entries(record).filter(isKept)), origin }));
  const states: string[] = [];
  for (const text of [`${first}\n`, `${first}\nmore\n`, `${first.replace('x', 'y')}\n`]) {
    writeFileSync(log, text);
    states.push(await trust.state(project));
  }
  expect(states).toEqual(['trusted', 'trusted', 'unknown']);
});

test('distrust applies to the path, whatever is there now', async () => {
  const { project, trust } = setUp('other');
  await trust.distrust(project);
  rmSync(project, { recursive: true });
  mkdirSync(project);
  expect(await trust.state(project)).toBe('untrusted');
});

// SE12
test('a folder that contains the store can never be trusted permanently', async () => {
  const { base, project, store, trust } = setUp();
  await expect(trust.trust(base)).rejects.toThrow('--trust');
  await trust.trust(project);
  const { dev, ino } = statSync(base, { bigint: true });
  rewrite(store, () => ({ path: base, state: 'trusted', device: `${dev}`, inode: `${ino}` }));
  expect(await trust.list()).toMatchObject([{ path: base, state: 'trusted' }]);
  expect(await trust.state(base)).toBe('unknown');
});

const attacks: [string, (store: string, home: string, base: string) => void, string][] = [
  ['can be written by the group', (store) => chmodSync(store, 0o620), 'written by other users'],
  ['can be written by all', (store) => chmodSync(store, 0o602), 'written by other users'],
  ['lies in a folder others can write', (_, home) => chmodSync(home, 0o777), 'folder can be written'],
  [
    'is a link',
    (store, _, base) => {
      renameSync(store, join(base, 'copy'));
      symlinkSync(join(base, 'copy'), store);
    },
    'ELOOP',
  ],
  [
    'lies in a linked folder',
    (_, home, base) => {
      renameSync(home, join(base, 'copy'));
      symlinkSync(join(base, 'copy'), home);
    },
    'symbolic link',
  ],
  ['is not JSON', (store) => writeFileSync(store, '{'), 'JSON'],
  ['is huge', (store) => writeFileSync(store, ' '.repeat(5_000_000)), 'too large'],
  [
    'is a pipe',
    (store) => {
      rmSync(store);
      execFileSync('mkfifo', ['-m', '600', store]);
    },
    'not a regular file',
  ],
];

// SE12
test.each(attacks)('a store that %s is not used, with a reason', async (_, attack, reason) => {
  const { base, project, home, store, trust } = setUp();
  await trust.trust(project);
  attack(store, home.path, base);
  expect(await trust.state(project)).toBe('unknown');
  expect(await trust.list()).toEqual([]);
  expect(await trust.problem()).toContain(reason);
});

// SE12
test.skipIf(process.getuid?.() !== 0)('a store of another user is not used', async () => {
  const { project, store, trust } = setUp();
  await trust.trust(project);
  execFileSync('chown', ['12345', store]);
  expect(await trust.problem()).toContain('another user');
  expect(await trust.state(project)).toBe('unknown');
});

test.each([
  '[]',
  '{"folders": {}}',
  '{"folders": [null, 5, {"path": "/"}, {"path": "/", "state": "yes", "device": "1", "inode": "2"}]}',
])('entries of another shape are ignored: %s', async (text) => {
  const { project, home, store, trust } = setUp();
  await home.directory();
  writeFileSync(store, text, { mode: 0o600 });
  expect([await trust.state(project), await trust.list()]).toEqual(['unknown', []]);
});

test('parallel decisions are all kept', async () => {
  const { base, home } = setUp('a', 'b', 'c', 'd');
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => new FolderTrust(home).trust(join(base, name))));
  expect((await new FolderTrust(home).list()).map(({ path }) => path).sort()).toEqual(
    ['a', 'b', 'c', 'd'].map((name) => join(base, name)),
  );
});

type Stored = Record<string, string>;

function rewrite(store: string, change: (record: Stored) => Stored): void {
  const data = JSON.parse(readFileSync(store, 'utf8')) as { folders: Stored[] };
  writeFileSync(store, JSON.stringify({ ...data, folders: data.folders.map(change) }));
}
