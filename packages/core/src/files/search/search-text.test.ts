import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { bundleChild } from '../../../../../testing/bundle.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { toBytePath } from '../byte-path.js';
import { IgnoreRules } from '../ignore/ignore-rules.js';
import { Ripgrep, type RipgrepRun } from './ripgrep.js';
import { searchText, type TextSearch } from './search-text.js';

class RecordedRipgrep extends Ripgrep {
  readonly runs: string[] = [];

  override run(args: readonly string[], run: RipgrepRun) {
    this.runs.push(run.path);
    return super.run(args, run);
  }
}

const wholeTree = (root: string): TextSearch => ({
  pattern: 'needle',
  letters: 'smart',
  context: 0,
  path: toBytePath(root),
  kind: 'directory',
  limit: 100_000,
  timeoutMs: 60_000,
  rules: new IgnoreRules([root]),
  signal: new AbortController().signal,
});

async function search(root: string, options: Partial<TextSearch> = {}) {
  const ripgrep = new RecordedRipgrep();
  const { files, matches, notes } = await searchText(ripgrep, { ...wholeTree(root), ...options });
  const found: string[] = [];
  for (const { path, lines } of files)
    for (const { number, text } of lines)
      found.push(`${path.slice(root.length + 1)}:${number}:${(await text()).slice(0, 40)}`);
  // Which of several comes first depends on the road.
  const lines = notes.lines().map((line) => line.replace(/: .*( and \d+ more\))$/, '$1'));
  return { found: found.toSorted(), matches, notes: lines, runs: ripgrep.runs };
}

const isWindows = process.platform === 'win32';

test('a tree is one run of ripgrep, hidden files included', async () => {
  const root = tempDirectory({
    '.git/HEAD': 'needle',
    '.gitignore': 'ignored\n# needle\n',
    ignored: 'needle',
    '.github/a': 'needle',
    'src/b': 'needle',
  });
  const found = ['.github/a:1:needle', '.gitignore:2:# needle', 'src/b:1:needle'];
  expect(await search(root)).toEqual({ found, matches: 3, notes: [], runs: [root] });
  expect(await search(root, { glob: 'b' })).toMatchObject({ found: ['src/b:1:needle'], runs: [root] });
});

test('a glob that names directories is searched from there', async () => {
  const root = tempDirectory({
    '.git/HEAD': '',
    '.gitignore': 'out/\nsrc/gen\n',
    'src/a/b.ts': 'needle',
    'src/a/c/d.ts': 'needle',
    'src/gen/e.ts': 'needle',
    'out/f.ts': 'needle',
    'g.ts': 'needle',
  });
  const found = ['src/a/b.ts:1:needle', 'src/a/c/d.ts:1:needle'];
  expect(await search(root, { glob: 'src/a/**/*.ts' })).toMatchObject({ found, runs: [join(root, 'src/a')] });
  expect(await search(root, { glob: 'src/a/*' })).toMatchObject({ found: found.slice(0, 1) });
  for (const glob of ['src/gen/*', 'out/*.ts', 'out/**', 'src/none/*', '.git/*'])
    expect(await search(root, { glob })).toMatchObject({ found: [], runs: ['/dev/null'] });
});

test('a directory that git ignores is searched when it is named, by the rules in it', async () => {
  const root = tempDirectory({
    '.git/HEAD': '',
    '.gitignore': 'out/\n*.log\n',
    'out/.gitignore': 'x\n',
    'out/a/x': 'needle',
    'out/a/y.log': 'needle',
  });
  expect((await search(root)).found).toEqual([]);
  for (const glob of [undefined, 'a/*'])
    expect((await search(root, { path: toBytePath(join(root, 'out')), glob })).found).toEqual(['out/a/y.log:1:needle']);
});

test("the user's excludes hold in a repository, and only there", async () => {
  const excludesFile = join(tempDirectory({ ignore: '*.tmp\n' }), 'ignore');
  const [inside, outside] = [{ '.git/HEAD': '' }, {}].map((files) => tempDirectory({ ...files, 'a.tmp': 'needle' }));
  for (const [root = '', found] of [[inside, []] as const, [outside, ['a.tmp:1:needle']] as const])
    expect((await search(root, { rules: new IgnoreRules([root], { excludesFile }) })).found).toEqual(found);
});

test('where git ignores case, so do its rules in a search', async () => {
  const root = tempDirectory({
    '.git/HEAD': '',
    '.git/config': '[core]\nignoreCase = true\n',
    '.gitignore': 'Build/\n*.LOG\n',
    'build/x': 'needle',
    'a.log': 'needle',
    'src/b': 'needle',
  });
  expect((await search(root)).found).toEqual(['src/b:1:needle']);
});

test('what ripgrep shows against our rules is not found', async () => {
  const root = tempDirectory({ 'a/.latheignore': 'x\nsub/\n', 'a/x': 'needle', 'a/sub/y': 'needle', b: 'needle' });
  expect(await search(root)).toMatchObject({ found: ['b:1:needle'], matches: 1 });
  const all = await search(root, { disregard: new Set(['agent']) });
  expect(all.found).toEqual(['a/sub/y:1:needle', 'a/x:1:needle', 'b:1:needle']);
});

test("git's rules can be left aside, and then .git stays hidden", async () => {
  const root = tempDirectory({ '.git/HEAD': 'needle', '.gitignore': 'x\n', x: 'needle' });
  expect((await search(root, { disregard: new Set(['git']) })).found).toEqual(['x:1:needle']);
});

test.skipIf(process.platform !== 'linux')('a name that is not text takes no other one away from a glob', async () => {
  const root = tempDirectory({ 'a/foo.': 'needle', 'a/c.ts': 'needle', 'b/foo.': 'needle', 'b/d.ts': 'needle' });
  writeFileSync(Buffer.from(`${root}/a/bad\xff.ts`, 'latin1'), 'needle');
  const { found } = await search(root, { glob: '*' });
  const bad = 'a/bad\\xFF.ts:1:needle';
  expect(found).toEqual([bad, 'a/c.ts:1:needle', 'a/foo.:1:needle', 'b/d.ts:1:needle', 'b/foo.:1:needle']);
  expect((await search(root, { glob: '*.ts' })).found).toEqual([bad, 'a/c.ts:1:needle', 'b/d.ts:1:needle']);
});

test.skipIf(isWindows).each([
  ['has two lines', 'a\nb/c'],
  ['has a carriage return', '.x\r/y'],
  ['is not ASCII', 'é/é'],
])('a file is found whose directory %s', async (_, path) => {
  expect((await search(tempDirectory({ [path]: 'needle' }))).matches).toBe(1);
});

const run = promisify(execFile);
const canMount = spawnSync('unshare', ['-m', 'true']).status === 0;

// RL10 SJ05
test.skipIf(!canMount)('a file system of the kernel that is mounted inside is not entered, and noted', async () => {
  const { rgPath } = await import('@vscode/ripgrep');
  const root = tempDirectory({ 'a/x': 'needle', 'm [y]/z': '' });
  const script = 'mount -t proc proc "$1/m [y]" && exec "$2" "$3" "$1" "$4"';
  const args = ['-m', 'sh', '-c', script, 'sh', root, process.execPath, await bundleChild('search-tree'), rgPath];
  const { stdout } = await run('unshare', args, { timeout: 60_000 });
  expect(JSON.parse(stdout)).toEqual({
    found: [`${root}/a/x`],
    notes: [`(file systems not entered: ${root}/m [y]/: proc)`],
  });
});

/** What the child finds as a user who may read nothing but what is open to all. */
async function searchedByNobody(root: string, closed: readonly string[]) {
  const { rgPath } = await import('@vscode/ripgrep');
  const child = await bundleChild('search-tree');
  // Where this project lies may be closed to others.
  const program = join(dirname(child), 'rg');
  copyFileSync(rgPath, program);
  for (const path of [root, dirname(child), program]) chmodSync(path, 0o755);
  for (const name of closed) chmodSync(join(root, name), 0);
  const { stdout } = await run(process.execPath, [child, root, program], { uid: 65_534, gid: 65_534, timeout: 60_000 });
  return JSON.parse(stdout.replaceAll(`${root}/`, ''));
}

const denied = 'Permission denied (os error 13)';

// RL04
describe.skipIf(process.getuid?.() !== 0)('what another user may not read is noted and takes no match away', () => {
  test('files and directories apart', async () => {
    const root = tempDirectory({ 'a/x': 'needle', 'shut/y': 'needle', closed: 'needle' });
    const { found, notes } = await searchedByNobody(root, ['shut', 'closed']);
    expect(found).toEqual(['a/x']);
    expect(notes.toSorted()).toEqual([
      `(directories that could not be read: shut: ${denied})`,
      `(files that could not be read: closed: ${denied})`,
    ]);
  });

  test('unless it is hidden anyway', async () => {
    const root = tempDirectory({ 'a/x': 'needle', 's/.latheignore': 'hidden\n', 's/hidden/y': 'needle' });
    expect(await searchedByNobody(root, ['s/hidden'])).toEqual({ found: ['a/x'], notes: [] });
  });

  test('is an error when it is what was named', async () => {
    const root = tempDirectory({ x: 'needle' });
    const { error } = await searchedByNobody(root, ['.']);
    expect(error).toMatchObject({ type: 'search_path_not_found', message: expect.stringContaining('EACCES') });
  });

  test.each([
    ['many files', Array.from({ length: 600 }, (_, index) => `closed-${index}`)],
    ['a name of two lines', ['bad\nname.txt']],
    ['names that look like messages', ['a\nrg: regex parse error\nrg: b', 'c: (os error 1)\nrg: d']],
  ])('%s', async (_, closed) => {
    const files = Object.fromEntries(closed.map((name) => [name, 'needle']));
    const root = tempDirectory({ '.git/HEAD': '', 'ok.txt': 'needle', ...files });
    const { found, notes } = await searchedByNobody(root, closed);
    expect(found).toEqual(['ok.txt']);
    expect(notes).toEqual([expect.stringMatching(/^\(files that could not be read: [^\n]*\)$/)]);
    if (closed.length === 600) expect(notes[0]).toMatch(/ and 599 more\)$/);
  });
});
