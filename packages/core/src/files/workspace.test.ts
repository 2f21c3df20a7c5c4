import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { isWithin, oddSpelling, Workspace } from './workspace.js';

/** `app` is the workspace; everything beside it is outside. */
async function setUp() {
  const base = tempDirectory({
    'app/src/a.txt': 'a',
    'app-evil/f': 'evil',
    'app2/f': 'evil',
    'outside/secret.txt': 'secret',
    'outside/dir/deep.txt': 'deep',
  });
  return { base, app: join(base, 'app'), workspace: await Workspace.open(join(base, 'app')) };
}

// SC01, SC02
test.each([
  ['../app-evil/f', 'app-evil/f'],
  ['../app2', 'app2'],
  ['../appx/../app-evil', 'app-evil'],
  ['..', ''],
  ['../', ''],
  ['src/../../outside/secret.txt', 'outside/secret.txt'],
  ['src//..//..//outside', 'outside'],
])('%s is outside', async (path, real) => {
  const { workspace, base } = await setUp();
  expect(await workspace.locate(path)).toEqual({ path: join(base, real), inside: false });
});

// SC02
test.each([
  ['src/a.txt', 'src/a.txt'],
  ['src/a.txt/', 'src/a.txt'],
  ['./src/./a.txt', 'src/a.txt'],
  ['.', ''],
  ['..foo/bar', '..foo/bar'],
  ['%2e%2e/x', '%2e%2e/x'],
  ['~/x', '~/x'],
  ['$HOME/x', '$HOME/x'],
  ['file:///etc/passwd', 'file:/etc/passwd'],
  ['..\\..\\x', '..\\..\\x'],
  ['new/dir/file.txt', 'new/dir/file.txt'],
])('%j stays inside and nothing in it is expanded', async (path, real) => {
  const { workspace, app } = await setUp();
  expect(await workspace.locate(path)).toEqual({ path: join(app, real), inside: true });
});

const links: [name: string, link: string, target: string, asked: string, real: string][] = [
  ['a file', 'link', '../outside/secret.txt', 'link', 'outside/secret.txt'],
  ['a directory', 'link', '../outside', 'link/secret.txt', 'outside/secret.txt'],
  ['a missing leaf under a linked directory', 'link', '../outside', 'link/new/leaf', 'outside/new/leaf'],
  ['a dangling link', 'link', '../outside/none', 'link', 'outside/none'],
  ['a path through a dangling link', 'link', '../outside/none', 'link/x', 'outside/none/x'],
  ['the parent of the workspace', 'link', '..', 'link/outside', 'outside'],
  ['the root', 'link', '/', 'link/etc/hostname', '/etc/hostname'],
  ['a nested link', 'src/link', '../../outside/dir', 'src/link/deep.txt', 'outside/dir/deep.txt'],
  ['dots behind a link', 'link', '../outside/dir', 'src/../link/deep.txt', 'outside/dir/deep.txt'],
];

// SC03
test.each(links)('a link to %s is judged by where it leads', async (_, link, target, asked, real) => {
  const { workspace, app, base } = await setUp();
  symlinkSync(target, join(app, link));
  const path = real.startsWith('/') ? realpathSync(real) : join(base, real);
  expect(await workspace.locate(asked)).toMatchObject({ path, inside: false });
});

// SC03
test('a chain of links is followed to its end', async () => {
  const { workspace, app, base } = await setUp();
  symlinkSync('two', join(app, 'one'));
  symlinkSync('src/three', join(app, 'two'));
  symlinkSync('../../outside/secret.txt', join(app, 'src/three'));
  const path = join(base, 'outside/secret.txt');
  expect(await workspace.locate('one')).toEqual({ path, alias: join(app, 'one'), inside: false });
});

test('a dangling link in a linked directory is relative to where that directory really is', async () => {
  const { workspace, app, base } = await setUp();
  symlinkSync('../outside/dir', join(app, 'd'));
  symlinkSync('../none', join(base, 'outside/dir/dangling'));
  const [path, alias] = [join(base, 'outside/none'), join(app, 'd/dangling')];
  expect(await workspace.locate('d/dangling')).toEqual({ path, alias, inside: false });
});

test('a link into the workspace is inside', async () => {
  const { workspace, app, base } = await setUp();
  symlinkSync(app, join(base, 'outside/back'));
  const alias = join(base, 'outside/back/src/a.txt');
  expect(await workspace.locate(alias)).toEqual({ path: join(app, 'src/a.txt'), alias, inside: true });
});

// SC04
test.skipIf(process.platform !== 'linux')('detours through /proc lead to the same place', async () => {
  const { workspace, app, base } = await setUp();
  const alias = `/proc/self/root${app}/src/a.txt`;
  expect(await workspace.locate(alias)).toEqual({ path: join(app, 'src/a.txt'), alias, inside: true });
  expect(await workspace.locate(`/proc/self/root${base}/outside/secret.txt`)).toMatchObject({ inside: false });
  expect((await workspace.locate('/proc/self/cwd')).path).toBe(realpathSync('.'));
});

// SC02
test('what cannot be resolved is refused', async () => {
  const { workspace, app } = await setUp();
  for (const odd of ['', 'a\0b', '\ud800', 'x'.repeat(100_000)])
    await expect(workspace.locate(odd)).rejects.toMatchObject({ type: 'invalid_tool_params' });
  symlinkSync('loop-b', join(app, 'loop-a'));
  symlinkSync('loop-a', join(app, 'loop-b'));
  await expect(workspace.locate('loop-a')).rejects.toMatchObject({ type: 'read_content_failure' });
  await expect(workspace.locate('x'.repeat(300))).rejects.toMatchObject({ type: 'read_content_failure' });
  await expect(workspace.locate('src/a.txt/child')).rejects.toMatchObject({ type: 'file_not_found' });
});

test('further directories count as inside, readable ones do not but need no question', async () => {
  const { base } = await setUp();
  const workspace = await Workspace.open(join(base, 'app'), ['../app2'], { readable: [join(base, 'outside')] });
  expect(await workspace.locate(join(base, 'app2/f'))).toEqual({ path: join(base, 'app2/f'), inside: true });
  expect(await workspace.locate(join(base, 'outside/secret.txt'))).toEqual({
    path: join(base, 'outside/secret.txt'),
    inside: false,
    readable: true,
  });
});

test('a further directory that is missing does no harm, and is no way to anywhere else', async () => {
  const { base } = await setUp();
  const workspace = await Workspace.open(join(base, 'app'), ['../later']);
  expect(await workspace.locate(join(base, 'later/f'))).toEqual({ path: join(base, 'later/f'), inside: true });
  symlinkSync('/', join(base, 'later'));
  expect(await workspace.locate(join(base, 'later/etc'))).toMatchObject({ path: '/etc', inside: false });
});

test('our own state is guarded and secret whatever its name, apart from what is meant to be read', async () => {
  const { base } = await setUp();
  const [state, spilled] = [join(base, 'app/state'), join(base, 'app/state/spill')];
  const workspace = await Workspace.open(join(base, 'app'), [], { guarded: [state], readable: [spilled] });
  const reason = expect.stringContaining('state');
  expect(await workspace.locate('state/settings.json')).toMatchObject({ guarded: reason, secret: reason });
  expect(await workspace.locate('state/spill/1.txt')).toEqual({
    path: join(spilled, '1.txt'),
    inside: true,
    readable: true,
    guarded: reason,
  });
});

// SD04, SD05
test.each([
  ['HEAD', ['config', 'objects/x', 'refs/x']],
  ['refs/heads/main', ['config', 'objects/x', 'HEAD']],
  ['objects/x', ['HEAD', 'refs/x']],
  ['commondir', ['HEAD', 'config']],
])('the piece that makes a directory a repository, %s, is guarded', async (last, others) => {
  const { workspace, app } = await setUp();
  for (const other of others) {
    mkdirSync(dirname(join(app, 'planted', other)), { recursive: true });
    writeFileSync(join(app, 'planted', other), '');
  }
  expect(await workspace.locate(join('planted', last))).toMatchObject({ guarded: expect.stringContaining('git') });
});

// SD03
test('a protected path is protected from the moment it appears, by link or by name', async () => {
  const { workspace, app } = await setUp();
  expect(await workspace.locate('hooks')).toEqual({ path: join(app, 'hooks'), inside: true });
  expect(await workspace.locate('.git/hooks/pre-commit')).toMatchObject({ guarded: expect.any(String) });
  mkdirSync(join(app, '.git'));
  symlinkSync('.git', join(app, 'hooks'));
  expect(await workspace.locate('hooks/pre-commit')).toMatchObject({
    path: join(app, '.git/hooks/pre-commit'.replace('hooks/', '')),
    guarded: expect.any(String),
  });
});

// SD04
test.skipIf(!hasProgram('git'))('git directories are guarded under any name', async () => {
  const { workspace, app, base } = await setUp();
  const git = (...args: string[]) => execFileSync('git', args, { cwd: base, stdio: 'ignore' });
  git('init', '-q', '--separate-git-dir', join(app, 'meta'), join(app, 'project'));
  expect(await workspace.locate('meta/config')).toMatchObject({ guarded: expect.stringContaining('git') });
  expect(await workspace.locate('meta/hooks/pre-commit')).toMatchObject({ guarded: expect.any(String) });
  git('init', '-q', '--bare', join(app, 'bare'));
  expect(await workspace.locate('bare/hooks/post-receive')).toMatchObject({ guarded: expect.any(String) });
  renameSync(join(app, 'meta'), join(app, 'moved'));
  expect(await workspace.locate('moved/config')).toMatchObject({ guarded: expect.any(String) });
  expect(await workspace.locate('project/main.c')).toEqual({ path: join(app, 'project/main.c'), inside: true });
});

// SD04
test.skipIf(!hasProgram('git'))('the git data of worktrees is guarded', async () => {
  const { workspace, app } = await setUp();
  const repository = join(app, 'r');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: app, stdio: 'ignore' });
  git('init', '-q', repository);
  writeFileSync(join(repository, 'f'), '');
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  git('-C', repository, 'add', '.');
  git('-C', repository, ...author, 'commit', '-qm', 'x');
  git('-C', repository, 'worktree', 'add', '-q', join(app, 'tree'));
  renameSync(join(repository, '.git/worktrees/tree'), join(app, 'elsewhere'));
  expect(await workspace.locate('elsewhere/config.worktree')).toMatchObject({ guarded: expect.any(String) });
  expect(await workspace.locate('tree/.git')).toMatchObject({ guarded: expect.any(String) });
});

// SC14
test.each([
  '\\\\host\\share',
  '//host/share',
  '\\\\?\\C:\\x',
  '\\??\\C:\\x',
  'C:\\a.txt:stream',
  'C:\\CON',
  'c:\\x\\nul.txt',
  'LPT1',
])('on Windows %s is refused by its spelling', (path) => {
  expect(oddSpelling(path, 'win32')).toEqual(expect.any(String));
});

test.each(['C:\\Users\\me\\a.txt', 'C:\\console\\context.txt', 'src\\nullable.ts'])('on Windows %s is fine', (path) => {
  expect(oddSpelling(path, 'win32')).toBeUndefined();
});

test('a path is within a directory exactly if the relative path does not lead out of it', () => {
  const segments = fc.array(fc.constantFrom('a', 'b', 'ab', '', '.', '..', '..a', '.a', 'a.'), { maxLength: 5 });
  const path = fc.tuple(fc.constantFrom('/', ''), segments).map(([root, names]) => root + names.join('/'));
  const isWayIn = (way: string) => way !== '..' && !way.startsWith('../') && !isAbsolute(way);
  const check = (a: string, b: string) => {
    expect([a, b, isWithin(a, b)]).toEqual([a, b, isWayIn(relative(a, b))]);
  };
  fc.assert(fc.property(path, path, check), { numRuns: 2_000 });
});
