import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { isLong, report } from '../../../../testing/long-run.js';
import { randomBelow, usualSeed } from '../../../../testing/random.js';
import { plantTree } from '../../../../testing/random-tree.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { toBytePath } from './byte-path.js';
import { IgnoreRules } from './ignore-rules.js';
import { KnownTrees } from './known-trees.js';
import { hasOnlyPlainRules } from './plain-rules.js';
import { Ripgrep, type RipgrepRun } from './ripgrep.js';
import type { TextSearch } from './search-job.js';
import { searchText } from './search-text.js';

class WatchedTrees extends KnownTrees {
  /** How the last search came to its answer. */
  last: 'known' | 'learned' | 'odd' | 'other' = 'other';
  #hasBegun = false;

  /** Everything counts as old enough to show when it changes. */
  constructor({ settledMs = -60_000 } = {}) {
    super({ settledMs });
  }

  override begin(...args: Parameters<KnownTrees['begin']>) {
    const tree = super.begin(...args);
    this.#hasBegun = tree !== undefined;
    return tree;
  }

  override keep(...args: Parameters<KnownTrees['keep']>) {
    super.keep(...args);
    this.last = this.#hasBegun ? 'learned' : 'known';
  }

  override forget(directory: string) {
    super.forget(directory);
    this.last = 'odd';
  }

  restart() {
    this.last = 'other';
    this.#hasBegun = false;
  }
}

async function search(
  root: string,
  known: WatchedTrees | undefined,
  options: Partial<TextSearch> = {},
  ripgrep = new Ripgrep(),
) {
  known?.restart();
  const { files, matches, notes, cut } = await searchText(ripgrep, {
    pattern: 'needle',
    letters: 'smart',
    context: 0,
    path: toBytePath(root),
    kind: 'directory',
    glob: '*.txt',
    limit: 100_000,
    timeoutMs: 60_000,
    rules: new IgnoreRules([root]),
    signal: new AbortController().signal,
    ...(known && { known }),
    ...options,
  });
  const found = files.map(({ path, lines }) => `${path.slice(root.length + 1)}:${lines.length}`);
  const lines = notes.lines().map((line) => line.replace(/: .*( and \d+ more\))$/, '$1'));
  return { how: known?.last, answer: { found: found.toSorted(), matches, notes: lines, cut } };
}

const isWindows = process.platform === 'win32';

const usual = {
  '.git/HEAD': 'ref: x',
  '.gitignore': 'build/\n*.log\n',
  'a.txt': 'needle',
  'build/b.txt': 'needle',
  'src/c.txt': 'needle',
  'src/.gitignore': '/d.txt\n',
  'src/d.txt': 'needle',
  '.config/e.txt': 'needle',
  '.config/sub/f.txt': 'needle',
  '.github/g.txt': 'needle',
  'h.txt/i.txt': 'needle',
  'h.txt/j.txt/.config/k.txt': 'needle',
};
const usualAnswer = [
  '.config/e.txt:1',
  '.config/sub/f.txt:1',
  '.github/g.txt:1',
  'a.txt:1',
  'h.txt/i.txt:1',
  'h.txt/j.txt/.config/k.txt:1',
  'src/c.txt:1',
];

test.skipIf(isWindows)('a tree is learned by the first search, whatever that and the next ones are for', async () => {
  const root = tempDirectory(usual);
  const known = new WatchedTrees();
  const answer = { found: usualAnswer, matches: 7, notes: [], cut: undefined };
  expect(await search(root, known)).toEqual({ how: 'learned', answer });
  expect(await search(root, known)).toEqual({ how: 'known', answer });
  expect(await search(root, known, { glob: undefined })).toEqual({ how: 'known', answer });
  writeFileSync(join(root, 'src/x.md'), 'needle');
  const other = await search(root, known, { glob: '*.{md,rst}' });
  expect(other).toEqual({ how: 'known', answer: { ...answer, found: ['src/x.md:1'], matches: 1 } });
});

test.skipIf(isWindows)(
  'a tree that was changed just now is searched as ever until its times can be relied on',
  async () => {
    const root = tempDirectory(usual);
    const known = new WatchedTrees({ settledMs: 300 });
    expect(await search(root, known)).toMatchObject({ how: 'odd', answer: { found: usualAnswer } });
    await vi.waitFor(async () => expect((await search(root, known)).how).toBe('known'), 60_000);
  },
);

test.skipIf(isWindows)('a pattern that cannot be used is an error and takes no knowledge away', async () => {
  const root = tempDirectory(usual);
  const known = new WatchedTrees();
  await search(root, known);
  await expect(search(root, known, { pattern: '(' })).rejects.toMatchObject({ type: 'invalid_tool_params' });
  expect((await search(root, known)).how).toBe('known');
});

/** Puts files into a tree. */
const put = (files: Record<string, string>) => (root: string) => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
};
const oddRule = '{x,y}.txt\n';

test.skipIf(isWindows).each<[string, (root: string) => void, string[], string[]]>([
  ['a file', put({ 'src/new.txt': 'needle' }), ['src/new.txt:1'], []],
  [
    'a directory with a rule that ripgrep reads in another way',
    put({ 'src/new/.gitignore': oddRule, 'src/new/x.txt': 'needle' }),
    ['src/new/x.txt:1'],
    [],
  ],
  [
    'an ignore file with such a rule',
    put({ '.github/.gitignore': oddRule, '.github/x.txt': 'needle' }),
    ['.github/x.txt:1'],
    [],
  ],
  [
    'such a rule in an ignore file that was there',
    put({ 'src/.gitignore': `/d.txt\n${oddRule}`, 'src/x.txt': 'needle' }),
    ['src/x.txt:1'],
    [],
  ],
  [
    'a repository inside',
    put({ '.github/.git/HEAD': 'ref: x', '.github/build/x.txt': 'needle' }),
    ['.github/build/x.txt:1'],
    [],
  ],
  ['a directory with the extension', put({ 'src/x.txt/y.txt': 'needle' }), ['src/x.txt/y.txt:1'], []],
  ['a directory in one with a telling name', put({ '.config/new/x.txt': 'needle' }), ['.config/new/x.txt:1'], []],
  ['an exclude', put({ '.git/info/exclude': '.config/\nsrc/\n' }), [], ['.config', 'src']],
  ['a choice of excludes', put({ '.git/config': '[core]\nexcludesFile = e', e: '.config/\n' }), [], ['.config']],
  ['an idea of case', put({ '.git/config': '[core]\nignoreCase = true', '.gitignore': 'build/\nSRC\n' }), [], ['src']],
  ['an ignore file of the agent', put({ 'src/.latheignore': 'c.txt\n' }), [], ['src']],
  ['a secret', put({ '.netrc': 'needle' }), [], []],
  ['another spelling of one', put({ '.NetRC': 'needle', 'src/.netrc~': 'needle' }), [], []],
])('%s that is new is seen', async (_, bringIn, added, hidden) => {
  const root = tempDirectory(usual);
  for (const glob of ['*.txt', undefined]) {
    const known = new WatchedTrees();
    await search(root, known);
    expect((await search(root, known, { glob })).how).toBe('known');
    bringIn(root);
    const { answer } = await search(root, known, { glob });
    const left = usualAnswer.filter((path) => !hidden.some((name) => `/${path}`.includes(`/${name}/`)));
    expect(answer.found).toEqual([...left, ...added].toSorted());
    expect(answer).toEqual((await search(root, undefined, { glob })).answer);
    rmSync(root, { recursive: true });
    put(usual)(root);
  }
});

test.skipIf(isWindows)('a tree stays known while directories come and go, and secrets in it are named', async () => {
  const root = tempDirectory(usual);
  const known = new WatchedTrees();
  const again = async () => {
    const { how, answer } = await search(root, known, { glob: undefined });
    expect(answer).toEqual((await search(root, undefined, { glob: undefined })).answer);
    return how;
  };
  // Without a glob there is another fast way, so that a single search learns nothing.
  expect(await again()).toBe('other');
  expect(await again()).toBe('learned');
  put({ 'new/deep/x.txt': 'needle', 'new/.gitignore': 'y.txt\n', 'new/y.txt': 'needle', '.netrc': 'needle' })(root);
  expect(await again()).toBe('known');
  put({ 'new/deep/z.txt': 'needle', 'new/deep/.pgpass': 'needle', 'src/.dockerignore': 'needle' })(root);
  expect(await again()).toBe('known');
  for (const path of ['new', '.config', 'h.txt', '.netrc']) rmSync(join(root, path), { recursive: true });
  expect(await again()).toBe('known');
  rmSync(join(root, 'src/.gitignore'));
  expect(await again()).toBe('odd');
});

/** Files in many new directories, the last of which has an odd rule. */
function bringInMany(root: string): void {
  for (let index = 0; index < 4000; index++) mkdirSync(join(root, 'new', `d${index}`), { recursive: true });
  const last = { '.gitignore': oddRule, 'x.txt': 'needle', '.netrc': 'needle' };
  put(Object.fromEntries(Object.entries(last).map(([name, text]) => [`new/d3999/deep/${name}`, text])))(root);
}

test.skipIf(isWindows).each<[string, (signal: AbortController) => Partial<TextSearch>]>([
  ['a pattern that cannot be used', () => ({ pattern: '(' })],
  ['a limit', () => ({ limit: 1 })],
  [
    'an abort',
    (controller) => {
      setTimeout(() => controller.abort(), 15);
      return { signal: controller.signal };
    },
  ],
])('what was learned until %s ended a search is not taken for all', async (_, options) => {
  const root = tempDirectory(usual);
  const known = new WatchedTrees();
  await search(root, known);
  bringInMany(root);
  await search(root, known, options(new AbortController())).catch(() => {});
  const { answer } = await search(root, known, { glob: undefined });
  expect(answer).toEqual((await search(root, undefined, { glob: undefined })).answer);
  expect(answer.found).toContain('new/d3999/deep/x.txt:1');
});

test.skipIf(isWindows)('searches of one tree at the same time do not rely on each other', async () => {
  const root = tempDirectory(usual);
  const known = new WatchedTrees();
  await search(root, known);
  bringInMany(root);
  const { answer } = await search(root, undefined);
  const searches: ReturnType<typeof search>[] = [];
  for (let count = 0; count < 6; count++) {
    searches.push(search(root, known));
    await sleep(5);
  }
  for (const found of await Promise.all(searches)) expect(found.answer).toEqual(answer);
});

test.skipIf(process.platform !== 'linux')(
  'names that are no text hold up nothing while a tree is learned',
  async () => {
    const root = tempDirectory(usual);
    for (let index = 0; index < 2000; index++)
      writeFileSync(Buffer.concat([Buffer.from(`${root}/${index}`), Buffer.alloc(240, 0xff)]), '');
    const start = performance.now();
    let [last, longest, isOver] = [start, 0, false];
    const turn = () => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
      if (!isOver) setImmediate(turn);
    };
    turn();
    expect((await search(root, new WatchedTrees())).how).toBe('learned');
    isOver = true;
    expect(longest).toBeLessThan((performance.now() - start) / 3);
  },
);

test.skipIf(isWindows).each([
  ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ['a link', (path: string) => symlinkSync('a.txt', path)],
  ['a directory', (path: string) => mkdirSync(path)],
])('%s in place of a file with a telling name is no file', async (_, make) => {
  const root = tempDirectory({ ...usual, '.docker': 'needle' });
  const known = new WatchedTrees();
  await search(root, known);
  expect((await search(root, known, { glob: undefined })).answer.found).toContain('.docker:1');
  rmSync(join(root, '.docker'));
  make(join(root, '.docker'));
  const { answer } = await search(root, known, { glob: undefined });
  expect(answer).toEqual({ found: usualAnswer, matches: 7, notes: [], cut: undefined });
});

test.skipIf(isWindows)('a directory may be spelled like the glob', async () => {
  const root = tempDirectory({ ...usual, 'x.{md,rst}/y.md': 'needle' });
  const known = new WatchedTrees();
  for (const how of ['learned', 'known'])
    expect(await search(root, known, { glob: '*.{md,rst}' })).toMatchObject({
      how,
      answer: { found: ['x.{md,rst}/y.md:1'] },
    });
});

test.skipIf(isWindows)('a new idea of case alone is seen', async () => {
  const root = tempDirectory({ ...usual, '.gitignore': 'build/\nSRC\n' });
  const known = new WatchedTrees();
  await search(root, known);
  expect((await search(root, known)).answer.found).toContain('src/c.txt:1');
  put({ '.git/config': '[core]\nignoreCase = true\n' })(root);
  expect((await search(root, known)).answer.found).not.toContain('src/c.txt:1');
});

test.skipIf(isWindows).each<[string, Record<string, string>, Partial<TextSearch>]>([
  ['with an odd rule', { '.gitignore': '{a,b}.txt\n' }, {}],
  ['with a repository inside', { 'inner/.git/HEAD': 'ref: x' }, {}],
  ['with excludes', { '.git/info/exclude': 'hidden/\n', 'hidden/.gitignore': oddRule, 'hidden/x.txt': 'needle' }, {}],
  ['with an ignore file of the agent', { 'src/.latheignore': 'deep/\n', 'src/deep/x.txt': 'needle' }, {}],
  ['with very many rules', { 'src/.gitignore': `${'x'.repeat(20)}\n`.repeat(1000) }, {}],
  ['with an ignore file that is too large', { 'src/.gitignore': `${'#'.repeat(200_000)}\n` }, {}],
  ['with a pointer to a repository', { 'a/.git': 'gitdir: ../.git' }, {}],
  [
    'with a directory named nearly like a file with a telling name',
    { '.docker': 'needle', '.docker-x/.gitignore': oddRule, '.docker-x/x.txt': 'needle' },
    {},
  ],
  ['with an odd spelling of a secret', { 'src/.Netrc': 'needle' }, {}],
  ['for files of which some hold secrets', { 'logins.json': 'needle' }, { glob: '*.json' }],
  ['for those in other letters', { 'logins.JSON': 'needle' }, { glob: '*.JSON' }],
  ['for copies of which some hold secrets', { '.netrc.bak': 'needle' }, { glob: '*.bak' }],
  ['for numbered ones', { '.netrc.2': 'needle' }, { glob: '*.2' }],
  ['for names', {}, { glob: 'a.txt' }],
  ['with a filter for reading', {}, { canRead: () => true }],
])('a search %s is never left to ripgrep alone', async (_, files, options) => {
  const root = tempDirectory({ ...usual, ...files });
  const known = new WatchedTrees();
  const { answer } = await search(root, undefined, options);
  for (let round = 0; round < 5; round++) {
    const found = await search(root, known, options);
    expect(found.answer).toEqual(answer);
    expect(found.how).toMatch(/odd|other/);
  }
});

test.skipIf(isWindows)('a tree that is odd is looked at less and less often', async () => {
  const root = tempDirectory({ ...usual, '.gitignore': '{a,b}.txt\n' });
  const known = new WatchedTrees();
  const looks: number[] = [];
  for (let round = 0; round < 20; round++) if ((await search(root, known)).how === 'odd') looks.push(round);
  expect(looks).toEqual([0, 2, 6, 14]);
  put({ '.gitignore': 'build/\n' })(root);
  for (let round = 20; round < 30; round++) expect((await search(root, known)).how).toBe('other');
  expect((await search(root, known)).how).toBe('learned');
});

test.skipIf(isWindows)('a tree outside a repository is known, ignore files and all, until there is one', async () => {
  const root = tempDirectory({
    '.gitignore': 'a.txt\n',
    'a.txt': 'needle',
    'sub/.gitignore': oddRule,
    'sub/x.txt': 'needle',
  });
  const known = new WatchedTrees();
  const found = ['a.txt:1', 'sub/x.txt:1'];
  expect(await search(root, known)).toMatchObject({ how: 'learned', answer: { found } });
  put({ 'new/.gitignore': '*\n', 'new/y.txt': 'needle' })(root);
  expect(await search(root, known)).toMatchObject({
    how: 'known',
    answer: { found: ['a.txt:1', 'new/y.txt:1', 'sub/x.txt:1'] },
  });
  put({ 'new/.git/HEAD': 'ref: x' })(root);
  expect(await search(root, known)).toMatchObject({ how: 'odd', answer: { found } });
  rmSync(join(root, 'new'), { recursive: true });
  const anew = new WatchedTrees();
  await search(root, anew);
  put({ '.git/HEAD': 'ref: x' })(root);
  for (let round = 0; round < 3; round++)
    expect((await search(root, anew, { glob: undefined })).answer.found).toEqual(['sub/x.txt:1']);
});

test.skipIf(isWindows)(
  'a directory that git ignores is known when it is named, until something above has a say',
  async () => {
    const root = tempDirectory({
      '.git/HEAD': 'ref: x',
      '.gitignore': 'build/\n',
      'build/.gitignore': 'x.txt\n',
      'build/a.txt': 'needle',
      'build/x.txt': 'needle',
      'build/sub/b.txt': 'needle',
      'build/sub/x.txt': 'needle',
    });
    const [place, known] = [join(root, 'build'), new WatchedTrees()];
    const again = (directory = place, glob: string | undefined = '*.txt') =>
      search(directory, known, { rules: new IgnoreRules([root]), glob });
    for (const how of ['learned', 'known'])
      expect(await again()).toMatchObject({ how, answer: { found: ['a.txt:1', 'sub/b.txt:1'] } });
    put({ 'build/new/x.txt': 'needle', 'build/new/c.txt': 'needle' })(root);
    const found = ['a.txt:1', 'new/c.txt:1', 'sub/b.txt:1'];
    expect(await again()).toMatchObject({ how: 'known', answer: { found } });
    // What holds in a directory when all above it is searched also holds when it is named.
    expect(await again(join(place, 'sub'))).toMatchObject({ how: 'other', answer: { found: ['b.txt:1'] } });
    put({ '.gitignore': 'a.txt\n' })(root);
    expect(await again()).toMatchObject({ how: 'odd', answer: { found: found.slice(1) } });
  },
);

test.skipIf(isWindows)(
  'a repository in a directory that git ignores is seen as one, with whatever was known',
  async () => {
    const root = tempDirectory({ '.git/HEAD': 'ref: x', '.gitignore': 'build/\n', 'build/.gitignore': 'x.txt\n' });
    put({ 'build/in/.git/HEAD': 'ref: x', 'build/in/x.txt': 'needle', 'build/x.txt': 'needle' })(root);
    const known = new WatchedTrees();
    const again = (path: string, glob?: string) =>
      search(join(root, path), known, { rules: new IgnoreRules([root]), glob });
    for (const glob of ['*.txt', undefined, undefined])
      expect((await again('build', glob)).answer.found).toEqual(['in/x.txt:1']);
    for (const how of ['learned', 'known'])
      expect(await again('build/in', '*.txt')).toMatchObject({ how, answer: { found: ['x.txt:1'] } });
  },
);

test.skipIf(isWindows)(
  'a part of a repository over which rules have a say is never left to ripgrep alone',
  async () => {
    const root = tempDirectory({
      '.git/HEAD': 'ref: x',
      '.gitignore': '.config/\n',
      'a/x.txt': 'needle',
      'a/.config/y.txt': 'needle',
    });
    const [place, known] = [join(root, 'a'), new WatchedTrees()];
    const again = () => search(place, known, { rules: new IgnoreRules([root]) });
    for (let round = 0; round < 2; round++)
      expect(await again()).toMatchObject({ how: 'other', answer: { found: ['x.txt:1'] } });
    put({ 'a/.git/HEAD': 'ref: x' })(root);
    for (const how of ['learned', 'known'])
      expect(await again()).toMatchObject({ how, answer: { found: ['.config/y.txt:1', 'x.txt:1'] } });
    rmSync(join(root, 'a/.git'), { recursive: true });
    expect(await again()).toMatchObject({ how: 'odd', answer: { found: ['x.txt:1'] } });
  },
);

test.skipIf(isWindows)('in the directory of a repository itself no rules hold', async () => {
  const root = tempDirectory({ '.git/HEAD': 'ref: x', '.git/x.txt': 'needle', '.git/.gitignore': 'x.txt\n' });
  const known = new WatchedTrees();
  for (const glob of ['*.txt', '*.txt', undefined, undefined])
    expect((await search(join(root, '.git'), known, { glob })).answer.found).toEqual(['x.txt:1']);
});

test.skipIf(isWindows).each([
  ['many are large', 12, `${'#'.repeat(100_000)}\nhidden.txt\n`],
  ['one is too large', 1, `${'#'.repeat(200_000)}\nhidden.txt\n`],
])('ignore files of which %s are read for each way to search anew', async (_, count, text) => {
  const root = tempDirectory();
  for (let index = 0; index < count; index++)
    put({ '.latheignore': text, 'hidden.txt': 'needle', 'shown.txt': 'needle' })(join(root, `d${index}`));
  const known = new WatchedTrees();
  const { answer } = await search(root, undefined, { glob: undefined });
  for (let round = 0; round < 3; round++)
    expect((await search(root, known, { glob: undefined })).answer).toEqual(answer);
});

class RecordedRipgrep extends Ripgrep {
  args: readonly string[] = [];

  override run(args: readonly string[], run: RipgrepRun) {
    this.args = args;
    return super.run(args, run);
  }
}

test.skipIf(isWindows)('once it is known, what is ignored is not read because of its extension', async () => {
  const root = tempDirectory({ '.git/HEAD': '', '.gitignore': 'huge.*\n', 'huge.md': 'needle', 'a.md': 'needle' });
  const [known, ripgrep] = [new WatchedTrees(), new RecordedRipgrep()];
  const isRead = async (glob: string) => {
    const { answer } = await search(root, known, { glob }, ripgrep);
    expect(answer).toMatchObject({ found: [`a${glob.slice(1)}:1`], notes: [], cut: undefined });
    return ripgrep.args.includes(`--glob=${glob}`);
  };
  expect([await isRead('*.md'), await isRead('*.md')]).toEqual([true, false]);
  put({ 'huge.txt': 'needle', 'a.txt': 'needle' })(root);
  expect([await isRead('*.txt'), await isRead('*.txt')]).toEqual([true, false]);
});

// RL08
test.skipIf(isWindows).each([
  ['that is ignored and has the extension', 'x.txt/.gitignore', { '.gitignore': 'build/\nx.txt/\n' }],
  ['that is excluded', 'h/.gitignore', { '.git/info/exclude': 'h/\n' }],
  ['that the agent hides', 'src/h/.gitignore', { 'src/.latheignore': 'h/\n' }],
  ['that a write left behind', 'src/.lathe-tmp-x/.gitignore', {}],
])('a pipe in place of the ignore file of a directory %s stops no search', async (_, pipe, files) => {
  const root = tempDirectory({ ...usual, ...files });
  mkdirSync(dirname(join(root, pipe)), { recursive: true });
  execFileSync('mkfifo', [join(root, pipe)]);
  const known = new WatchedTrees();
  for (const glob of ['*.txt', '*.txt', undefined, undefined]) {
    const { cut, found } = (await search(root, known, { glob })).answer;
    expect({ glob, cut, found }).toEqual({ glob, cut: undefined, found: usualAnswer });
  }
});

test.skipIf(isWindows)('a large directory with a link for an ignore file is like any other', async () => {
  const root = tempDirectory(usual);
  for (let index = 0; index < 1000; index++) writeFileSync(join(root, `src/${index}${'x'.repeat(100)}`), '');
  rmSync(join(root, 'src/.gitignore'));
  symlinkSync('../rules', join(root, 'src/.gitignore'));
  const known = new WatchedTrees();
  await search(root, known);
  writeFileSync(join(root, 'rules'), 'c.txt\n');
  expect((await search(root, known)).answer).toEqual((await search(root, undefined)).answer);
});

const trees = isLong ? 500 : 25;

// SJ05 RL06
test.skipIf(isWindows)(`${trees} random trees stay known while they change`, { timeout: 300_000 }, async () => {
  let fast = 0;
  for (let tree = 0; tree < trees; tree++) {
    const root = plantTree(usualSeed + tree);
    const random = randomBelow(usualSeed + tree);
    const known = new WatchedTrees();
    if (tree % 4 > 0) makePlain(root, { isRepository: tree % 4 > 1 });
    if (tree % 4 > 2) writeFileSync(join(root, '.gitignore'), '\nb/\n', { flag: 'a' });
    for (let round = 0; round < 4; round++) {
      const glob = ['*.txt', '*.log', '*.{txt,py}', undefined, undefined][random(5)];
      for (const path of [root, join(root, 'b')]) {
        if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) continue;
        const options = { glob, path: toBytePath(path) };
        const walked = await search(root, undefined, options);
        const { how, answer } = await search(root, known, options);
        const context = `LATHE_SEED=${usualSeed}, tree ${tree}, round ${round}, ${path}, ${glob}`;
        expect({ context, ...answer }).toEqual({ context, ...walked.answer });
        fast += how === 'known' ? 1 : 0;
      }
      change(root, random);
    }
    report('random trees that stay known while they change', 1);
  }
  // Else the roads would not have been compared.
  expect(fast).toBeGreaterThan(trees / 4);
});

/** Most trees are like this, and few of those that are planted. */
function makePlain(root: string, { isRepository }: { isRepository: boolean }): void {
  rmSync(join(root, '.git'), { recursive: true, force: true });
  if (isRepository) {
    execFileSync('git', ['init', '-q', root]);
    writeFileSync(join(root, '.git/info/exclude'), '');
  }
  const odd = ['nested', '.ssh', 'Library', '.jj', '.latheignore'].flatMap((name) => ['-o', '-name', name]).slice(1);
  execFileSync('find', [root, '(', ...odd, ')', '-prune', '-exec', 'rm', '-r', '{}', '+']);
  for (const path of pathsIn(root).filter((name) => name.endsWith('/.gitignore'))) {
    const plain = readFileSync(join(root, path), 'utf8')
      .split(/\r?\n/)
      .filter((rule) => hasOnlyPlainRules(rule, { ignoresCase: true }));
    writeFileSync(join(root, path), plain.join('\n'));
  }
}

function pathsIn(root: string): string[] {
  return execFileSync('find', ['.', '-not', '-path', './.git/*', '-print0'], { cwd: root, encoding: 'latin1' })
    .split('\0')
    .filter((path) => /^\.\/[ -~]+$/.test(path));
}

/** What people do to a tree between two searches. */
function change(root: string, random: (limit: number) => number): void {
  const paths = pathsIn(root);
  const pick = () => join(root, paths[random(paths.length)] ?? 'nothing');
  const directory = () => {
    const path = pick();
    return existsSync(`${path}/.`) ? path : dirname(path);
  };
  const changes = [
    () => writeFileSync(join(directory(), 'new.txt'), 'needle'),
    () =>
      writeFileSync(
        join(directory(), '.gitignore'),
        ['*.log\n', '{a,x}.txt\n', '!*.txt\n', 'a\nb/\n'][random(4)] ?? '',
      ),
    () => mkdirSync(join(directory(), 'new')),
    () => symlinkSync('..', join(directory(), 'link.txt')),
    () => rmSync(pick(), { recursive: true }),
    () => renameSync(pick(), join(directory(), 'moved')),
    () => writeFileSync(join(directory(), ['.netrc', '.pgpass', '.Netrc', '.dockerignore'][random(4)] ?? ''), 'needle'),
    () => mkdirSync(join(directory(), '.git')),
    () => writeFileSync(join(root, '.git/info/exclude'), ['', 'b/\n', '.config/\n', '*.log\n'][random(4)] ?? ''),
    () => writeFileSync(join(directory(), '.latheignore'), ['x.txt\n', 'b/\n'][random(2)] ?? ''),
  ];
  try {
    for (let count = random(3); count > 0; count--) changes[random(changes.length)]?.();
  } catch {
    // Not everything can be done everywhere.
  }
}
