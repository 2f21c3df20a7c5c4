import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bundleChild } from '../../../../testing/bundle.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { LatheHome } from '../files/lathe-home.js';
import { Journal } from '../files/undo/journal.js';
import { FileLocks } from '../files/write/file-lock.js';
import { Rewind } from './rewind.js';
import type { SnapshotLimits } from './scan-workspace.js';
import type { WorkspaceSnapshot } from './snapshot-store.js';

const never = new AbortController().signal;

function git(root: string, ...args: string[]): string {
  const env = { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  const settings = ['user.name=a', 'user.email=a@example.com', 'init.defaultBranch=main', 'protocol.file.allow=always'];
  const flags = settings.flatMap((setting) => ['-c', setting]);
  return execFileSync('git', [...flags, ...args], { cwd: root, env, encoding: 'utf8', stdio: 'pipe' });
}

/** A repository in which these files are committed. */
function repository(files: Record<string, string | Uint8Array>, before: (root: string) => void = () => {}): string {
  const root = tempDirectory(files);
  git(root, 'init', '-q');
  before(root);
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', 'one');
  return root;
}

function openRewind(root: string, limits?: Partial<SnapshotLimits>, home = new LatheHome(tempDirectory())): Rewind {
  const parts = { locks: new FileLocks(home), journal: new Journal(home) };
  return new Rewind({ root, home, path: process.env['PATH'] ?? '', excludesFile: undefined }, parts, limits);
}

/** Takes a snapshot, makes changes, and goes back. Returns what was left, and why. */
async function goBack(rewind: Rewind, change: () => void, isApproved = true): Promise<Record<string, string>> {
  const target = await rewind.snapshots.take(never);
  change();
  const after = await rewind.snapshots.take(never);
  await rewind.snapshots.keep(target, after, never);
  return backTo(rewind, target, after, isApproved);
}

async function backTo(rewind: Rewind, target: WorkspaceSnapshot, after: WorkspaceSnapshot, isApproved = true) {
  const now = await rewind.snapshots.take(never);
  const plan = await rewind.plan({ target, now, gaps: [[after, now]] }, () => true, never);
  const outcomes = await rewind.restore(plan, { isApproved }, never);
  return Object.fromEntries(outcomes.flatMap((each) => (each.status === 'left' ? [[each.path, each.reason]] : [])));
}

/** Everything in a repository: bytes, permissions and times. */
function filesOf(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return Object.fromEntries(
    names.map((name) => {
      const path = join(directory, name);
      const { mode, mtimeMs, ...stat } = lstatSync(path);
      return [name, `${mode} ${mtimeMs} ${stat.size} ${lstatSync(path).isFile() ? readFileSync(path, 'base64') : ''}`];
    }),
  );
}

/** The file of a loose object. */
function objectOf(root: string, name: string): string {
  const id = git(root, 'rev-parse', name).trim();
  return join(root, '.git/objects', id.slice(0, 2), id.slice(2));
}

const change = (root: string, ...names: string[]) => {
  for (const name of names) writeFileSync(join(root, name), 'changed');
};

test('no program that a hostile repository names is run, and no setting of it counts', async () => {
  const marker = join(tempDirectory(), 'ran');
  const program = `touch ${marker}; cat`;
  const root = repository({ 'a.txt': 'one\r\ntwo\r\n', 'b.bin': 'b', 'sub/c.txt': 'c' });
  const keys =
    'core.fsmonitor filter.x.clean filter.x.smudge diff.x.textconv diff.x.command core.pager diff.external core.editor core.sshCommand uploadpack.packObjectsHook core.alternateRefsCommand';
  for (const key of keys.split(' ')) git(root, 'config', key, program);
  git(root, 'config', 'core.autocrlf', 'true');
  git(root, 'config', 'core.worktree', '/');
  git(root, 'config', 'core.hooksPath', join(root, '.git', 'hooks'));
  writeFileSync(join(root, '.git', 'evil'), `[core]\n\tfsmonitor = ${program}\n`);
  git(root, 'config', 'include.path', join(root, '.git', 'evil'));
  for (const hook of [
    'post-index-change',
    'pre-commit',
    'post-checkout',
    'fsmonitor-watchman',
    'reference-transaction',
  ]) {
    writeFileSync(join(root, '.git', 'hooks', hook), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
  }
  writeFileSync(join(root, '.gitattributes'), '* filter=x diff=x text eol=crlf ident working-tree-encoding=UTF-16\n');
  const before = { git: filesOf(join(root, '.git')), text: readFileSync(join(root, 'a.txt')) };
  const left = await goBack(openRewind(root), () => {
    change(root, 'a.txt', 'b.bin', 'new.txt');
    rmSync(join(root, 'sub'), { recursive: true });
  });
  expect(left).toEqual({});
  expect(readFileSync(join(root, 'a.txt'))).toEqual(before.text);
  expect(readFileSync(join(root, 'sub/c.txt'), 'utf8')).toBe('c');
  expect(existsSync(join(root, 'new.txt'))).toBe(false);
  expect(filesOf(join(root, '.git'))).toEqual(before.git);
  expect(existsSync(marker)).toBe(false);
});

test.each<[string, (root: string) => void]>([
  ['a filter that keeps the size', (root) => git(root, 'config', 'filter.rot.clean', 'tr a-z n-za-m')],
  ['line ends that git converts', (root) => git(root, 'config', 'core.autocrlf', 'true')],
])('files come back byte for byte despite %s', async (_, configure) => {
  const files = { 'a.txt': 'one\r\ntwo\r\n', 'b.rot': 'hello', '.gitattributes': '*.rot filter=rot\n' };
  const root = repository(files, configure);
  const left = await goBack(openRewind(root), () => change(root, 'a.txt', 'b.rot'));
  expect(left).toEqual({});
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(files['a.txt']);
  expect(readFileSync(join(root, 'b.rot'), 'utf8')).toBe(files['b.rot']);
});

test.each<[string, (root: string) => void]>([
  ['assumed unchanged', (root) => git(root, 'update-index', '--assume-unchanged', 'a.txt')],
  ['outside a sparse checkout', (root) => git(root, 'update-index', '--skip-worktree', 'a.txt')],
  ['new without content', (root) => git(root, 'add', '-N', 'untracked.txt')],
  ['in a split index', (root) => git(root, 'update-index', '--split-index')],
  ['in an index of format 4', (root) => git(root, 'update-index', '--index-version', '4')],
  ['in a pack', (root) => git(root, 'gc', '-q')],
  ['in a damaged index', (root) => writeFileSync(join(root, '.git/index'), 'DIRC')],
  ['without an index', (root) => rmSync(join(root, '.git/index'))],
  ['without its object', (root) => rmSync(objectOf(root, 'HEAD:a.txt'))],
])('a file that is %s comes back, and the repository is not touched', async (_, prepare) => {
  const root = repository({ 'a.txt': 'one', 'b/c.txt': 'two' });
  writeFileSync(join(root, 'untracked.txt'), 'three');
  prepare(root);
  const before = filesOf(join(root, '.git'));
  const left = await goBack(openRewind(root), () => {
    change(root, 'a.txt', 'untracked.txt');
    rmSync(join(root, 'b'), { recursive: true });
  });
  expect(left).toEqual({});
  const texts = ['a.txt', 'b/c.txt', 'untracked.txt'].map((name) => readFileSync(join(root, name), 'utf8'));
  expect(texts).toEqual(['one', 'two', 'three']);
  expect(filesOf(join(root, '.git'))).toEqual(before);
});

test('objects of another repository are not used, whatever alternates say', async () => {
  const other = repository({ 'secret.txt': 'secret' });
  const root = repository({ 'a.txt': 'one' });
  writeFileSync(join(root, '.git/objects/info/alternates'), `${join(other, '.git/objects')}\n`);
  const rewind = openRewind(root);
  await rewind.snapshots.take(never);
  const id = git(other, 'rev-parse', 'HEAD:secret.txt').trim();
  expect(await rewind.snapshots.sizesOf([id], never)).toEqual(new Map());
});

test('works in a linked work tree, and leaves a submodule alone and names it', async () => {
  const library = repository({ 'lib.txt': 'lib' });
  const main = repository({ 'a.txt': 'one' }, (root) => git(root, 'submodule', 'add', '-q', library, 'sub'));
  const root = join(tempDirectory(), 'linked');
  git(main, 'worktree', 'add', '-q', root);
  const reasons = await goBack(openRewind(root), () => change(root, 'a.txt'));
  expect(reasons).toEqual({});
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one');
  expect(Object.keys(await goBack(openRewind(main), () => change(main, 'a.txt', 'sub/lib.txt')))).toEqual(['sub/']);
  expect(readFileSync(join(main, 'sub/lib.txt'), 'utf8')).toBe('changed');
});

test('an unchanged time stamp does not hide a change in the same moment', async () => {
  const root = repository({ 'a.txt': 'one' });
  const { atime, mtime } = lstatSync(join(root, '.git/index'));
  writeFileSync(join(root, 'a.txt'), 'two');
  utimesSync(join(root, 'a.txt'), atime, mtime);
  expect(await goBack(openRewind(root), () => change(root, 'a.txt'))).toEqual({});
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('two');
});

test('a content that the repository has lost meanwhile is named, a copied one comes back', async () => {
  const root = repository({ 'a.txt': 'one', 'b.txt': 'two' });
  const rewind = openRewind(root);
  const target = await rewind.snapshots.take(never);
  change(root, 'a.txt');
  const after = await rewind.snapshots.take(never);
  await rewind.snapshots.keep(target, after, never);
  change(root, 'b.txt');
  const later = await rewind.snapshots.take(never);
  rmSync(join(root, '.git/objects'), { recursive: true });
  expect(await backTo(rewind, target, later)).toEqual({ 'b.txt': 'its earlier content is no longer kept' });
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one');
});

test('files over the limits are left and named, and too many are refused', async () => {
  const root = tempDirectory({ 'small.txt': 'small', 'large.txt': 'x'.repeat(200) });
  const left = await goBack(openRewind(root, { fileBytes: 100 }), () => change(root, 'small.txt', 'large.txt'));
  expect(Object.keys(left)).toEqual(['large.txt']);
  expect(readFileSync(join(root, 'small.txt'), 'utf8')).toBe('small');
  expect(readFileSync(join(root, 'large.txt'), 'utf8')).toBe('changed');
  const grown = await goBack(openRewind(root, { fileBytes: 100 }), () =>
    writeFileSync(join(root, 'large.txt'), 'x'.repeat(300)),
  );
  expect(Object.keys(grown)).toEqual(['large.txt']);
  expect(readFileSync(join(root, 'large.txt'), 'utf8')).toHaveLength(300);
  const total = await goBack(openRewind(root, { totalBytes: 20 }), () => change(root, 'small.txt'));
  expect(Object.keys(total)).toEqual(['large.txt']);
  await expect(openRewind(root, { changedFiles: 1 }).snapshots.take(never)).rejects.toThrow(
    '2 files are new or changed',
  );
});

test('files that others changed since are left and named', async () => {
  const root = repository({ 'a.txt': 'one', 'b.txt': 'two' });
  const rewind = openRewind(root);
  const target = await rewind.snapshots.take(never);
  change(root, 'a.txt', 'b.txt', 'c.txt');
  const after = await rewind.snapshots.take(never);
  writeFileSync(join(root, 'b.txt'), 'by a person');
  rmSync(join(root, 'c.txt'));
  writeFileSync(join(root, 'd.txt'), 'by a person');
  const reason = 'changed by somebody else since';
  expect(await backTo(rewind, target, after)).toEqual({ 'b.txt': reason, 'd.txt': reason });
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one');
  expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('by a person');
});

test('a file that changes between plan and restore is left', async () => {
  const root = tempDirectory({ 'a.txt': 'one', 'b.txt': 'two' });
  symlinkSync('a.txt', join(root, 'link'));
  const rewind = openRewind(root);
  const target = await rewind.snapshots.take(never);
  change(root, 'b.txt');
  rmSync(join(root, 'link'));
  const now = await rewind.snapshots.take(never);
  const plan = await rewind.plan({ target, now, gaps: [] }, () => true, never);
  writeFileSync(join(root, 'b.txt'), 'late');
  writeFileSync(join(root, 'link'), 'late');
  const outcomes = await rewind.restore(plan, { isApproved: true }, never);
  expect(outcomes.map(({ path, status }) => `${path} ${status}`)).toEqual(['b.txt left', 'link left']);
  expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('late');
});

test('a directory that became a symlink leads nothing outside', async () => {
  const outside = tempDirectory({ 'x.txt': 'outside' });
  const root = tempDirectory({ 'd/x.txt': 'one', 'e/y.txt': 'two' });
  const rewind = openRewind(root);
  const target = await rewind.snapshots.take(never);
  rmSync(join(root, 'd'), { recursive: true });
  symlinkSync(outside, join(root, 'd'));
  const after = await rewind.snapshots.take(never);
  const now = await rewind.snapshots.take(never);
  const plan = await rewind.plan({ target, now, gaps: [[after, now]] }, () => true, never);
  // The symlink stays, so the file below it has no place.
  const files = plan.files.filter(({ path }) => path !== 'd');
  const outcomes = await rewind.restore({ files, left: [] }, { isApproved: true }, never);
  expect(outcomes.map(({ status }) => status)).toEqual(['left']);
  expect(readFileSync(join(outside, 'x.txt'), 'utf8')).toBe('outside');
  expect(await backTo(rewind, target, after)).toEqual({});
  expect(readFileSync(join(root, 'd/x.txt'), 'utf8')).toBe('one');
  expect(readdirSync(outside)).toEqual(['x.txt']);
});

test('files that other programs obey are restored only when a person agreed', async () => {
  const root = tempDirectory({ '.vscode/tasks.json': '{}', 'a.txt': 'one' });
  const left = await goBack(openRewind(root), () => change(root, '.vscode/tasks.json', 'a.txt'), false);
  expect(left).toEqual({ '.vscode/tasks.json': '.vscode is configuration that other programs execute or act on' });
  expect(readFileSync(join(root, '.vscode/tasks.json'), 'utf8')).toBe('changed');
  expect(await goBack(openRewind(root), () => change(root, '.vscode/tasks.json', 'b.txt'))).toEqual({});
});

test('a workspace that its repository ignores has snapshots all the same, and state of Lathe is in none', async () => {
  const outer = repository({ '.gitignore': 'scratch/\n' });
  const root = join(outer, 'scratch');
  mkdirSync(root);
  writeFileSync(join(root, 'a.txt'), 'one');
  const rewind = openRewind(root, {}, new LatheHome(join(root, 'state')));
  expect(await goBack(rewind, () => change(root, 'a.txt', 'state/x'))).toEqual({});
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one');
  expect(existsSync(join(root, 'state/x'))).toBe(true);
});

test('an ignored file stays although its rule was missing for a while', async () => {
  const root = repository({ '.gitignore': 'secret.json\n', 'a.txt': 'one' });
  writeFileSync(join(root, 'secret.json'), '{}');
  const rewind = openRewind(root);
  const target = await rewind.snapshots.take(never);
  rmSync(join(root, '.gitignore'));
  await rewind.snapshots.take(never);
  writeFileSync(join(root, '.gitignore'), 'secret.json\n');
  writeFileSync(join(root, 'a.txt'), 'two');
  const after = await rewind.snapshots.take(never);
  await rewind.snapshots.keep(target, after, never);
  expect(await backTo(rewind, target, after)).toEqual({
    'secret.json': 'ignored at that time, so its state then is not known',
  });
  expect(['a.txt', 'secret.json'].map((name) => readFileSync(join(root, name), 'utf8'))).toEqual(['one', '{}']);
});

test('a file that cannot be read is left and named', async () => {
  if (process.getuid?.() === 0) return;
  const root = tempDirectory({ 'a.txt': 'one', 'b.txt': 'two' });
  chmodSync(join(root, 'b.txt'), 0);
  expect(Object.keys(await goBack(openRewind(root), () => change(root, 'a.txt')))).toEqual(['b.txt']);
});

test('a snapshot that is gone is an error that says so, before anything changes', async () => {
  const root = tempDirectory({ 'a.txt': 'one' });
  const rewind = openRewind(root);
  const now = await rewind.snapshots.take(never);
  const target = { tree: '0123456789'.repeat(4), leftOut: [], time: 0 };
  await expect(rewind.plan({ target, now, gaps: [] }, () => true, never)).rejects.toThrow('no longer kept');
});

test('old snapshots are forgotten, newer ones and the contents they share stay', async () => {
  const root = repository({ 'a.txt': 'one', 'b.txt': 'two' });
  const home = new LatheHome(tempDirectory());
  const rewind = openRewind(root, {}, home);
  await rewind.snapshots.take(never);
  const references = home.file('rewind', readdirSync(home.file('rewind'))[0] ?? '', 'refs', 'lathe');
  change(root, 'a.txt');
  const target = await rewind.snapshots.take(never);
  expect(readdirSync(references)).toHaveLength(2);
  await rewind.snapshots.prune(never, 30);
  expect(readdirSync(references)).toHaveLength(2);
  change(root, 'b.txt');
  const after = await rewind.snapshots.take(never);
  for (const name of readdirSync(references).slice(0, 1)) {
    const old = join(references, `1-${name.split('-')[1]}`);
    writeFileSync(old, readFileSync(join(references, name)));
    rmSync(join(references, name));
  }
  await rewind.snapshots.prune(never);
  expect(readdirSync(references)).toHaveLength(2);
  expect(await backTo(rewind, target, after)).toEqual({});
  expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('two');
});

test('a process killed in the middle of going back leaves old or new files, and the next one finishes', {
  timeout: 1_800_000,
}, async () => {
  const names = Array.from({ length: 24 }, (_, index) => `d${index % 4}/${index}.txt`);
  const root = repository(Object.fromEntries(names.map((name) => [name, `old ${name}`])));
  symlinkSync('d0', join(root, 'link'));
  const home = new LatheHome(tempDirectory());
  const rewind = openRewind(root, {}, home);
  const target = await rewind.snapshots.take(never);
  const script = await bundleChild('restore-snapshot');
  let cutShort = 0;
  for (let round = 0; round < (process.env['LATHE_LONG'] ? 40 : 3); round++) {
    for (const name of names) writeFileSync(join(root, name), `new ${name}`);
    rmSync(join(root, 'link'));
    writeFileSync(join(root, 'link'), 'new');
    const child = spawn(process.execPath, [script, root, home.path, target.tree], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const wanted = 1 + ((round * 9) % names.length);
    await once(child.stdout, 'data');
    const isBack = (name: string) => readFileSync(join(root, name), 'utf8').startsWith('old');
    while (names.filter(isBack).length < wanted) await setImmediate();
    child.kill('SIGKILL');
    await once(child, 'close');
    const states = names.map((name) => readFileSync(join(root, name), 'utf8').slice(0, 3));
    expect(states.filter((state) => state !== 'old' && state !== 'new')).toEqual([]);
    if (states.includes('new')) cutShort += 1;
    const now = await rewind.snapshots.take(never);
    expect(await backTo(rewind, target, now)).toEqual({});
    expect(names.map((name) => readFileSync(join(root, name), 'utf8'))).toEqual(names.map((name) => `old ${name}`));
    expect(readlinkSync(join(root, 'link'))).toBe('d0');
    expect(git(root, 'status', '--porcelain')).toBe('?? link\n');
  }
  expect(cutShort).toBeGreaterThan(0);
});

test('two processes take snapshots of one workspace at the same time', async () => {
  const root = repository({ 'a.txt': 'one' });
  const home = new LatheHome(tempDirectory());
  const script = await bundleChild('restore-snapshot');
  const children = [1, 2].map(() => spawn(process.execPath, [script, root, home.path, '5'], { stdio: 'inherit' }));
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'close'))[0]));
  expect(codes).toEqual([0, 0]);
  expect(await goBack(openRewind(root, {}, home), () => change(root, 'a.txt'))).toEqual({});
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one');
});
