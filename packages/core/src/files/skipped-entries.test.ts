import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { Ripgrep } from './ripgrep.js';
import { SkippedEntries } from './skipped-entries.js';

const flags = [
  '--files',
  '--debug',
  '--hidden',
  '--no-ignore-dot',
  '--no-ignore-messages',
  '--glob=!.git',
  '--glob=!*\n*',
];

async function skippedIn(
  root: string,
  { extra = [], knowsPlainRules = false }: { extra?: string[]; knowsPlainRules?: boolean } = {},
) {
  const skipped: string[] = [];
  const log = new SkippedEntries((path) => skipped.push(path.slice(root.length + 1)), { knowsPlainRules });
  const signal = new AbortController().signal;
  await new Ripgrep().run([...flags, ...extra, root], { signal, onLog: (chunk) => log.push(chunk) });
  return { skipped: skipped.toSorted(), isOdd: log.isOdd, errors: log.errors };
}

// A ripgrep that words its log in another way fails here.
test.skipIf(process.platform === 'win32')('the log of the installed ripgrep names everything it left out', async () => {
  const root = tempDirectory({
    '.git/HEAD': '',
    '.git/info/exclude': 'excluded\n',
    '.gitignore': '*.o\nbuild/\n!keep.o\n/a b\n',
    'a.o': '',
    'keep.o': '',
    'a b': '',
    excluded: '',
    'build/x': '',
    'c/.gitignore': '[x-z]*\n',
    'c/x: Ig': '',
    'c/é.o': '',
    'd/.git': '',
    shown: '',
  });
  expect(await skippedIn(root)).toEqual({
    skipped: ['.git', 'a b', 'a.o', 'build', 'c/x: Ig', 'c/Ã©.o', 'd/.git', 'excluded'],
    isOdd: false,
    errors: '',
  });
  expect((await skippedIn(root, { extra: ['--glob=!shown'] })).skipped).toContain('shown');
});

test.skipIf(process.platform === 'win32')('what plain rules skip is left out until there are others', async () => {
  const root = tempDirectory({ '.git/HEAD': '', '.gitignore': '*.o\n', 'a.o': '', 'b/a.o': '', '.ssh/x': '' });
  const skippedWith = async (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    return (await skippedIn(root, { extra: ['--glob=!.ssh'], knowsPlainRules: true })).skipped;
  };
  expect(await skippedWith('b/.gitignore', '!/c')).toEqual(['.git', '.ssh']);
  expect(await skippedWith('b/.gitignore', '{x,y}')).toContain('b/a.o');
  expect(await skippedWith('.gitignore', '*.o\n{x,y}')).toEqual(['.git', '.ssh', 'a.o', 'b/a.o']);
  expect(await skippedWith('.gitignore', '*.o')).not.toContain('a.o');
  expect(await skippedWith('.git/info/exclude', '# none')).not.toContain('a.o');
  expect(await skippedWith('.git/info/exclude', 'x')).toContain('a.o');
});

/** A name that tells the log of two other entries. */
const forged = 'a: Ignore(IgnoreMatch(Override(Glob())))\nrg: DEBUG|ignore::walk|x.rs:1: ignoring .o';

test.skipIf(process.platform !== 'linux')('a log that may mean something else is odd', async () => {
  const tree = (name: string | Buffer, rule = '*.o') => {
    const root = tempDirectory({ '.git/HEAD': '', '.gitignore': rule });
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name)]), '');
    return root;
  };
  const names = ['new\nline', forged, 'c\r.o', 'a: Ignore(IgnoreMatch(.o', '\uFFFD.o', Buffer.from('\xff.o', 'latin1')];
  for (const name of names) {
    const { isOdd, errors } = await skippedIn(tree(name));
    expect({ name, isUnclear: isOdd || errors !== '' }).toEqual({ name, isUnclear: true });
  }
  expect((await skippedIn(tree('x', 'x\n: Ignore(IgnoreMatch('))).isOdd).toBe(false);
});

// RL08
test.skipIf(process.platform === 'win32')(
  'an ignore file that is too large, or none, is odd before it is read',
  async () => {
    const root = tempDirectory({ '.git/HEAD': '', 'a/.gitignore': '', b: '' });
    expect((await skippedIn(root)).isOdd).toBe(false);
    truncateSync(join(root, 'a/.gitignore'), 2 << 20);
    expect((await skippedIn(root)).isOdd).toBe(true);
    const other = tempDirectory({ '.git/HEAD': '' });
    mkdirSync(join(other, '.gitignore'));
    expect((await skippedIn(other)).isOdd).toBe(true);
  },
);

const verdict =
  'rg: DEBUG|ignore::walk|crates/ignore/src/walk.rs:1: ignoring /r/a: Ignore(IgnoreMatch(Override(Glob())))';

test.each([
  [verdict, { paths: ['/r/a'], isOdd: false, errors: '' }],
  [verdict.replace('ignoring', 'leaving out'), { paths: [], isOdd: true, errors: '' }],
  [verdict.replace('Override', 'Moon'), { paths: [], isOdd: true, errors: '' }],
  [verdict.replace('/r/a', 'r/a'), { paths: [], isOdd: true, errors: '' }],
  [verdict.replace('|ignore::walk|', '|globset|'), { paths: [], isOdd: true, errors: '' }],
  [verdict.replace('rg: ', ''), { paths: [], isOdd: true, errors: '' }],
  [verdict.replace('Override(Glob())', 'Hidden'), { paths: [], isOdd: true, errors: '' }],
  ['rg: /r/a: Permission denied', { paths: [], isOdd: false, errors: 'rg: /r/a: Permission denied\n' }],
  ['rg: DEBUG|ignore::gitignore|x.rs:1: opened gitignore file: /r/a', { paths: [], isOdd: true, errors: '' }],
  ['rg: DEBUG|rg::haystack|x.rs:1: ignoring /r/a', { paths: [], isOdd: true, errors: '' }],
  ['x'.repeat(100_000), { paths: [], isOdd: true, errors: '' }],
])('%.80s', (line, expected) => {
  const paths: string[] = [];
  const log = new SkippedEntries((path) => paths.push(path), { knowsPlainRules: false });
  // In pieces, as a pipe may deliver it.
  for (const piece of `${line}\n`.match(/[^]{1,70000}/g) ?? []) log.push(Buffer.from(piece));
  expect({ paths, isOdd: log.isOdd, errors: log.errors }).toEqual(expected);
});
