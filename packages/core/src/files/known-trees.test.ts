import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { isLong, report } from '../../../../testing/long-run.js';
import { randomBelow, usualSeed } from '../../../../testing/random.js';
import { plantTree } from '../../../../testing/random-tree.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { toBytePath } from './byte-path.js';
import { IgnoreRules } from './ignore-rules.js';
import { KnownTrees } from './known-trees.js';
import { Ripgrep, type RipgrepRun } from './ripgrep.js';
import type { TextSearch } from './search-job.js';
import { searchText } from './search-text.js';

class RecordedRipgrep extends Ripgrep {
  /** Whether ripgrep walked the tree by itself. */
  hasWalked = false;

  override run(args: readonly string[], run: RipgrepRun) {
    this.hasWalked ||= !args.includes('--max-depth=1');
    return super.run(args, run);
  }
}

async function search(root: string, options: Partial<TextSearch> = {}) {
  const ripgrep = new RecordedRipgrep();
  const { files, matches, notes } = await searchText(ripgrep, {
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
    ...options,
  });
  const found = files.map(({ path, lines }) => `${path.slice(root.length + 1)}:${lines.length}`);
  const lines = notes.lines().map((line) => line.replace(/: .*( and \d+ more\))$/, '$1'));
  return { hasWalked: ripgrep.hasWalked, answer: { found: found.toSorted(), matches, notes: lines } };
}

/** Everything counts as old enough to show when it changes. */
const known = () => new KnownTrees({ settledMs: -60_000 });

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
};
const usualAnswer = ['.config/e.txt:1', '.config/sub/f.txt:1', '.github/g.txt:1', 'a.txt:1', 'src/c.txt:1'];

test.skipIf(isWindows)('the second search of a tree leaves the walk to ripgrep, whatever the extension', async () => {
  const root = tempDirectory(usual);
  const trees = known();
  const first = await search(root, { known: trees });
  expect(first).toEqual({ hasWalked: false, answer: { found: usualAnswer, matches: 5, notes: [] } });
  expect(await search(root, { known: trees })).toEqual({ ...first, hasWalked: true });
  writeFileSync(join(root, 'src/x.md'), 'needle');
  const other = await search(root, { known: trees, glob: '*.{md,rst}' });
  expect(other).toEqual({ hasWalked: true, answer: { found: ['src/x.md:1'], matches: 1, notes: [] } });
});

test.skipIf(isWindows)(
  'a tree that was changed just now is walked by us until its times can be relied on',
  async () => {
    const root = tempDirectory(usual);
    const trees = new KnownTrees();
    await search(root, { known: trees });
    expect((await search(root, { known: trees })).hasWalked).toBe(false);
  },
);

test.skipIf(isWindows).each<[string, (root: string) => void, string[]]>([
  ['a file', (root) => writeFileSync(join(root, 'src/new.txt'), 'needle'), ['src/new.txt:1']],
  [
    'a directory with an ignore file that ripgrep reads in another way',
    (root) => {
      mkdirSync(join(root, 'src/new'));
      writeFileSync(join(root, 'src/new/.gitignore'), '{x,y}.txt\n');
      writeFileSync(join(root, 'src/new/x.txt'), 'needle');
    },
    ['src/new/x.txt:1'],
  ],
  [
    'such an ignore file',
    (root) => {
      writeFileSync(join(root, '.github/.gitignore'), '{x,y}.txt\n');
      writeFileSync(join(root, '.github/x.txt'), 'needle');
    },
    ['.github/x.txt:1'],
  ],
  [
    'such a rule in an ignore file that is there',
    (root) => {
      writeFileSync(join(root, 'src/x.txt'), 'needle');
      writeFileSync(join(root, 'src/.gitignore'), '/d.txt\n{x,y}.txt\n');
    },
    ['src/x.txt:1'],
  ],
  [
    'a repository inside',
    (root) => {
      mkdirSync(join(root, '.github/.git'));
      writeFileSync(join(root, '.github/.git/HEAD'), 'ref: x');
      mkdirSync(join(root, '.github/build'));
      writeFileSync(join(root, '.github/build/x.txt'), 'needle');
    },
    ['.github/build/x.txt:1'],
  ],
  [
    'a directory in one with a telling name',
    (root) => {
      mkdirSync(join(root, '.config/new'));
      writeFileSync(join(root, '.config/new/x.txt'), 'needle');
    },
    ['.config/new/x.txt:1'],
  ],
])('%s that is new is seen', async (_, bringIn, added) => {
  const root = tempDirectory(usual);
  const trees = known();
  await search(root, { known: trees });
  bringIn(root);
  const { answer } = await search(root, { known: trees });
  expect(answer.found).toEqual([...usualAnswer, ...added].toSorted());
});

test.skipIf(isWindows)('an ignore file of the agent holds and ceases to hold', async () => {
  const root = tempDirectory({ ...usual, 'src/.latheignore': 'deep/\n', 'src/deep/x.txt': 'needle' });
  const trees = known();
  await search(root, { known: trees });
  const { hasWalked, answer } = await search(root, { known: trees });
  expect([hasWalked, answer.found]).toEqual([true, usualAnswer]);
  writeFileSync(join(root, 'src/.latheignore'), 'peer/\n');
  expect((await search(root, { known: trees })).answer.found).toEqual([...usualAnswer, 'src/deep/x.txt:1']);
});

test.skipIf(isWindows).each([
  ['outside a repository', { '.git/HEAD': undefined, '.gitignore': 'a.txt\n' }, {}],
  ['with an odd rule', { '.gitignore': '{a,b}.txt\n' }, {}],
  ['with a repository inside', { 'inner/.git/HEAD': 'ref: x' }, {}],
  ['for files of which some hold secrets', {}, { glob: '*.json' }],
  ['for names', {}, { glob: 'a.txt' }],
  ['with a filter for reading', {}, { canRead: () => true }],
])('a search %s is walked by us each time', async (_, files, options) => {
  const root = tempDirectory(
    Object.fromEntries(
      Object.entries({ ...usual, ...files }).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  );
  const trees = known();
  const first = await search(root, { known: trees, ...options });
  expect(await search(root, { known: trees, ...options })).toEqual({ ...first, hasWalked: false });
});

test.skipIf(isWindows)('a rule above the place that ripgrep reads in another way is heeded', async () => {
  const root = tempDirectory({ '.git/HEAD': 'ref: x', 'a/b/x.txt': 'needle' });
  const [place, trees] = [join(root, 'a'), known()];
  const options = { known: trees, path: toBytePath(place), rules: new IgnoreRules([root]) };
  await search(place, options);
  expect((await search(place, options)).hasWalked).toBe(true);
  writeFileSync(join(root, '.gitignore'), '{x,y}.txt\n');
  expect(await search(place, options)).toEqual({
    hasWalked: false,
    answer: { found: ['b/x.txt:1'], matches: 1, notes: [] },
  });
});

const trees = isLong ? 500 : 25;

// SJ05 RL06
test.skipIf(isWindows)(`${trees} random trees stay known while they change`, { timeout: 300_000 }, async () => {
  let fast = 0;
  for (let tree = 0; tree < trees; tree++) {
    const root = plantTree(usualSeed + tree);
    const random = randomBelow(usualSeed + tree);
    const kept = known();
    // Most trees are like this, and few of those that are planted.
    if (tree % 4 > 0) {
      execFileSync('git', ['init', '-q', root]);
      execFileSync('find', [
        root,
        '(',
        '-name',
        'nested',
        '-o',
        '-name',
        '.ssh',
        ')',
        '-prune',
        '-exec',
        'rm',
        '-r',
        '{}',
        '+',
      ]);
    }
    for (let round = 0; round < 4; round++) {
      const glob = ['*.txt', '*.log', '*.{txt,py}'][random(3)];
      const walked = await search(root, { glob });
      const { hasWalked, answer } = await search(root, { glob, known: kept });
      const context = `LATHE_SEED=${usualSeed}, tree ${tree}, round ${round}, ${glob}`;
      expect({ context, ...answer }).toEqual({ context, ...walked.answer });
      fast += hasWalked ? 1 : 0;
      change(root, random);
    }
    report('random trees that stay known while they change', 1);
  }
  // Else the roads would not have been compared.
  expect(fast).toBeGreaterThan(trees / 2);
});

/** What people do to a tree between two searches. */
function change(root: string, random: (limit: number) => number): void {
  const paths = execFileSync('find', ['.', '-not', '-path', './.git/*', '-print0'], { cwd: root, encoding: 'latin1' })
    .split('\0')
    .filter((path) => /^\.\/[ -~]+$/.test(path));
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
    () => mkdirSync(join(directory(), '.git')),
    () => writeFileSync(join(directory(), '.latheignore'), ['x.txt\n', 'b/\n'][random(2)] ?? ''),
  ];
  try {
    for (let count = random(3); count > 0; count--) changes[random(changes.length)]?.();
  } catch {
    // Not everything can be done everywhere.
  }
}
