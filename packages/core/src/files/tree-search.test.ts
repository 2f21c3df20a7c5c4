import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { bundleChild } from '../../../../testing/bundle.js';
import { isLong, report } from '../../../../testing/long-run.js';
import { randomBelow, usualSeed } from '../../../../testing/random.js';
import { plantTree } from '../../../../testing/random-tree.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { toBytePath } from './byte-path.js';
import { IgnoreRules } from './ignore-rules.js';
import { Ripgrep, type RipgrepRun } from './ripgrep.js';
import type { TextSearch } from './search-job.js';
import { searchText } from './search-text.js';

class RecordedRipgrep extends Ripgrep {
  readonly runs: string[] = [];

  override run(args: readonly string[], run: RipgrepRun) {
    this.runs.push(args.includes('--max-depth=1') ? 'named' : 'tree');
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

test.skipIf(isWindows)('a plain tree is one run of ripgrep, hidden files included', async () => {
  const root = tempDirectory({
    '.git/HEAD': 'needle',
    '.gitignore': 'ignored\n# needle\n',
    ignored: 'needle',
    '.github/a': 'needle',
    'src/b': 'needle',
  });
  expect(await search(root)).toEqual({
    found: ['.github/a:1:needle', '.gitignore:2:# needle', 'src/b:1:needle'],
    matches: 3,
    notes: [],
    runs: ['tree'],
  });
  expect((await search(root, { glob: 'b' })).runs).toEqual(['named']);
});

test.skipIf(isWindows)('what ripgrep leaves out against our rules is searched afterwards', async () => {
  // Ripgrep obeys a repository of Jujutsu; git does not.
  const root = tempDirectory({
    '.jj/x': '',
    '.gitignore': 'left*\n',
    left: 'needle',
    'left2/x': 'needle',
    c: 'needle',
  });
  expect(await search(root)).toMatchObject({
    found: ['c:1:needle', 'left2/x:1:needle', 'left:1:needle'],
    matches: 3,
    runs: ['tree', 'named'],
  });
  expect(await search(root, { glob: 'x' })).toMatchObject({ found: ['left2/x:1:needle'], matches: 1 });
  // Braces have a meaning to ripgrep; to git they are part of the name.
  const braces = tempDirectory({
    '.git/HEAD': '',
    '.gitignore': 'plain\n',
    'b/.gitignore': '{x,y}\n',
    'b/x': 'needle',
  });
  expect(await search(braces)).toMatchObject({ found: ['b/x:1:needle'], runs: ['tree', 'named'] });
});

test.skipIf(isWindows)('a tree in which git ignores case is one run, unless a repository inside does not', async () => {
  const config = '[core]\nignoreCase = true\n';
  const root = tempDirectory({
    '.git/HEAD': '',
    '.git/config': config,
    '.gitignore': 'Build/\n*.LOG\n!Keep.log\n',
    'build/x': 'needle',
    'a.log': 'needle',
    'keep.LOG': 'needle',
    'src/b': 'needle',
    'inner/.git/HEAD': '',
    'inner/.git/config': config,
    'inner/.gitignore': 'A\n!B\n',
    'inner/a': 'needle',
  });
  const found = ['keep.LOG:1:needle', 'src/b:1:needle'];
  expect(await search(root)).toMatchObject({ found, runs: ['tree'] });
  writeFileSync(join(root, 'inner/.git/config'), '');
  expect(await search(root)).toMatchObject({ found: ['inner/a:1:needle', ...found], runs: ['tree', 'named'] });
});

test.skipIf(isWindows)('what ripgrep hides by an ignore file that is a link is found', async () => {
  const root = tempDirectory({ '.git/HEAD': '', 'a/rules': 'x', 'a/x': 'needle' });
  symlinkSync('rules', join(root, 'a/.gitignore'));
  expect((await search(root)).found).toEqual(['a/x:1:needle']);
});

test.skipIf(isWindows)('what ripgrep shows against our rules is not found', async () => {
  const root = tempDirectory({ 'a/.latheignore': 'x\nsub/\n', 'a/x': 'needle', 'a/sub/y': 'needle', b: 'needle' });
  expect(await search(root)).toMatchObject({ found: ['b:1:needle'], matches: 1, runs: ['tree'] });
});

test.each([
  ['rules of its own', {}, { '.latheignore': 'x' }],
  ['a filter for reading', { canRead: () => true }, {}],
  ['rules left aside', { disregard: new Set(['git'] as const) }, {}],
  ['a glob with a path', { glob: 'a/*' }, { 'a/b': '' }],
  ['a name that no log can show', {}, { '.git/HEAD': '', '.gitignore': '*.o', 'new\nline.o': '' }],
])('a tree with %s is walked by us', async (_, options, files) => {
  const root = tempDirectory({ 'a/c': 'needle', ...files });
  expect(await search(root, options)).toMatchObject({ found: ['a/c:1:needle'], matches: 1 });
  expect((await search(root, options)).runs).toContain('named');
});

test.skipIf(isWindows)('a ripgrep that keeps no log is not relied on', async () => {
  const { rgPath } = await import('@vscode/ripgrep');
  const script = `#!/bin/bash\nargs=()\nfor a; do [ "$a" = --debug ] || args+=("$a"); done\nexec ${rgPath} "\${args[@]}"\n`;
  const program = join(tempDirectory({ rg: script }), 'rg');
  chmodSync(program, 0o755);
  const ripgrep = new Ripgrep(() => Promise.resolve(program));
  const root = tempDirectory({ '.git/HEAD': '', '.jj/x': '', a: 'needle' });
  const result = await searchText(ripgrep, wholeTree(root));
  expect(result.matches).toBe(1);
});

// RL08
test.skipIf(isWindows).each([
  ['an ignore file', 'a/.gitignore', {}],
  ['a list of excludes', 'a/.git/info/exclude', { 'a/.git/info/x': '' }],
  ['a pointer of a worktree', 'elsewhere/commondir', { 'a/.git': 'gitdir: ../elsewhere', 'elsewhere/y': '' }],
])('a pipe in place of %s stops ripgrep, not the search', async (_, pipe, files) => {
  const root = tempDirectory({ '.git/HEAD': '', 'a/x': 'needle', ...files });
  execFileSync('mkfifo', [join(root, pipe)]);
  const { found, notes } = await search(root);
  expect({ found, notes: notes.length }).toEqual({ found: ['a/x:1:needle'], notes: 1 });
});

// RL08
test.skipIf(isWindows)(
  'a pipe in place of an ignore file outside a repository stops ripgrep, not the search',
  async () => {
    const root = tempDirectory({ 'a/x': 'needle', b: 'needle' });
    execFileSync('mkfifo', [join(root, 'a/.gitignore')]);
    expect(await search(root)).toMatchObject({ found: ['a/x:1:needle', 'b:1:needle'], notes: [] });
  },
);

// RL08
test.skipIf(isWindows)('a pipe in place of an ignore file above the place does not stop the search', async () => {
  const above = tempDirectory({ 'work/a/x': 'needle' });
  execFileSync('mkfifo', [join(above, '.gitignore')]);
  expect(await search(join(above, 'work'))).toMatchObject({ found: ['a/x:1:needle'], notes: [], runs: ['named'] });
  execFileSync('git', ['init', '-q', join(above, 'work')]);
  expect(await search(join(above, 'work'))).toMatchObject({ found: ['a/x:1:needle'], notes: [] });
  expect(await search(join(above, 'work/a'))).toMatchObject({ found: ['x:1:needle'], notes: [] });
});

test.skipIf(process.platform !== 'linux')('a name that is no text takes no other one away from a glob', async () => {
  const root = tempDirectory({ 'a/foo.': 'needle', 'a/c.ts': 'needle', 'b/foo.': 'needle', 'b/d.ts': 'needle' });
  writeFileSync(Buffer.from(`${root}/a/bad\xff.ts`, 'latin1'), 'needle');
  const { found } = await search(root, { glob: '*' });
  const bad = 'a/bad\\xFF.ts:1:needle';
  expect(found).toEqual([bad, 'a/c.ts:1:needle', 'a/foo.:1:needle', 'b/d.ts:1:needle', 'b/foo.:1:needle']);
  expect((await search(root, { glob: '*.ts' })).found).toEqual([bad, 'a/c.ts:1:needle', 'b/d.ts:1:needle']);
});

const trees = process.env['LATHE_LONG'] === '1' ? 500 : 25;

// SJ05 RL06
test.skipIf(isWindows)(`on ${trees} random trees both roads find the same`, { timeout: 300_000 }, async () => {
  let fast = 0;
  for (let tree = 0; tree < trees; tree++) {
    const root = plantTree(usualSeed + tree);
    for (const path of [root, join(root, 'b')]) {
      if (!existsSync(path)) continue;
      const ours = await search(root, { path });
      const walked = await search(root, { path, canRead: () => true });
      const context = `LATHE_SEED=${usualSeed}, tree ${tree}, ${path}`;
      expect({ context, ...ours, runs: [] }).toEqual({ context, ...walked, runs: [] });
      fast += ours.runs.includes('named') ? 0 : 1;
    }
    report('random trees searched the same on both roads', 1);
  }
  // Else the roads would not have been compared.
  expect(fast).toBeGreaterThan(trees / 4);
});

// biome-ignore format: a table is read at a glance
const fragments = [
  'a', '.o', '.x', '\n', '\n', '\r', ': ', ': Ignore(IgnoreMatch(Override(Glob())))', ': Ignore(IgnoreMatch(Gitignore(Glob())))', ': Ignore(IgnoreMatch(Hidden))',
  'rg: DEBUG|ignore::walk|x.rs:1: ignoring ', 'rg: DEBUG|globset|x.rs:1: ', 'original: "!*\\n*"', 'rg: ', '^', ' ',
];
const forgeries = isLong ? 400 : 25;

// SJ05
test.skipIf(isWindows)(
  `${forgeries} trees with names made of the log are searched all the same`,
  { timeout: 300_000 },
  async () => {
    const random = randomBelow(usualSeed);
    const name = () =>
      Array.from({ length: 1 + random(6) }, () => fragments[random(fragments.length)])
        .join('')
        .slice(0, 200);
    for (let round = 0; round < forgeries; round++) {
      const root = tempDirectory({
        a: 'needle',
        '.o': 'needle',
        ...(random(2) && { '.git/HEAD': '', '.gitignore': '*.o\n' }),
      });
      for (let entry = 0; entry < 3; entry++) {
        const path = join(root, ...Array.from({ length: 1 + random(3) }, name));
        try {
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, 'needle');
        } catch {
          // A file is in the way.
        }
      }
      const walked = await search(root, { canRead: () => true });
      const context = `LATHE_SEED=${usualSeed}, round ${round}: ${JSON.stringify(walked.found)}`;
      expect({ context, ...(await search(root)), runs: [] }).toEqual({ context, ...walked, runs: [] });
    }
  },
);

test.skipIf(isWindows).each([
  ['forges the log', 'a: Ignore(IgnoreMatch(Override(Glob())))\nrg: DEBUG|ignore::walk|x.rs:1: ignoring /.netrc-x'],
  ['has a carriage return', '.x\r/y'],
  ['is not ASCII', 'é/é'],
])('a file is found whose directory %s', async (_, path) => {
  expect((await search(tempDirectory({ [path]: 'needle' }))).matches).toBe(1);
});

const run = promisify(execFile);
const inside = ['-m', '-Urm'].find((flags) => spawnSync('unshare', [flags, 'true']).status === 0);

// RL01 SJ05
test.skipIf(inside === undefined)('a directory mounted inside itself is searched once', async () => {
  const { rgPath } = await import('@vscode/ripgrep');
  const root = tempDirectory({ 'a/x': 'needle', 'a/loop/y': 'needle' });
  const script =
    'mount --rbind "$1" "$1/a/loop" && mount --rbind "$1/a" "$1/a/loop/a/loop" && exec "$2" "$3" "$1" "$4"';
  const child = await bundleChild('search-tree');
  const args = [String(inside), 'sh', '-c', script, 'sh', root, process.execPath, child, rgPath];
  const { stdout } = await run('unshare', args, { timeout: 60_000 });
  expect(JSON.parse(stdout)).toEqual({
    found: [`${root}/a/x`],
    notes: [`(directories mounted inside themselves: ${root}/a/loop/)`],
  });
});

/** What the child finds as a user who may read nothing but what is open to all. */
async function searchedByNobody(root: string, closed: readonly string[], script?: string) {
  const { rgPath } = await import('@vscode/ripgrep');
  const child = await bundleChild('search-tree');
  // Where this project lies may be closed to others.
  const program = join(dirname(child), 'rg');
  copyFileSync(rgPath, program);
  for (const path of [root, dirname(child), program]) chmodSync(path, 0o755);
  for (const name of closed) chmodSync(join(root, name), 0);
  const command = [process.execPath, child, root, program];
  const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', ...command];
  const { stdout } =
    script === undefined
      ? await run(process.execPath, command.slice(1), { uid: 65_534, gid: 65_534, timeout: 60_000 })
      : await run('unshare', ['-m', 'sh', '-c', script, 'sh', ...asNobody], { timeout: 60_000 });
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

  test.skipIf(inside !== '-m')('also where there is no room for a log', async () => {
    const ignored = Array.from({ length: 1000 }, (_, index) => [`${index}/ignored.log`, 'needle']);
    const shown = Array.from({ length: 50 }, (_, index) => [`${index}/x`, 'needle']);
    const closed = Array.from({ length: 30 }, (_, index) => `${index}/closed`);
    const files = Object.fromEntries([...ignored, ...shown, ...closed.map((path) => [path, 'needle'])]);
    const root = tempDirectory({ '.git/HEAD': '', '.gitignore': '{*.log,y}\n*.log\n', ...files });
    const full = 'mount -t tmpfs -o size=64k,mode=1777 tmpfs /dev/shm && exec "$@"';
    const { found, notes } = await searchedByNobody(root, closed, full);
    expect(found).toEqual(shown.map(([path]) => path).toSorted());
    expect(notes).toEqual([expect.stringMatching(/^\(files that could not be read: .* and 29 more\)$/)]);
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
