import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { expect, test } from 'vitest';
import { isLong, report } from '../../../../testing/long-run.js';
import { hasProgram } from '../../../../testing/programs.js';
import { randomBelow, usualSeed } from '../../../../testing/random.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { hasNoRules, hasOnlyPlainRules } from './plain-rules.js';

test.each([
  '',
  'a\n\n# note: {é}\n!b\n',
  '/a/\r\n*.o\r\n',
  '**/a/*.[ch]\n!/b/c-?/\nx  ',
  '\\#*\\!\n!#a#\n*~\na/**/b\na/**\nreport.[0-9]*.json',
  '*\n!/**/\n!*.c\n',
  '**\n/**\n**/\n',
  '$RECYCLE.BIN/\n*- [Bb]ackup ([0-9]).rdl\n~$*\n[._]*.s[a-v][a-z]\nb-a[x-z]',
])('these rules are plain: %j', (text) => {
  expect(hasOnlyPlainRules(Buffer.from(text).toString('latin1'))).toBe(true);
});

test.each([
  '{a,b}',
  'a**',
  'a/***',
  '[!a]',
  '[^a]',
  '[z-a]',
  '[a-c3-1]',
  'a  b',
  'a /b',
  '[[:alpha:]]',
  '[]]',
  '[a',
  'a\\b',
  'a\\',
  'x\\ ',
  'a\t',
  ' a',
  'é',
  '//a',
  'a//b',
  '/',
  '!',
  '!!a',
  '\uFEFFa',
  'a\rb',
  'a\n{b}',
])('these are not: %j', (text) => {
  expect(hasOnlyPlainRules(Buffer.from(text).toString('latin1'))).toBe(false);
});

test('when case is ignored, a capital letter alone in a set is not plain', () => {
  const isPlain = (text: string) => hasOnlyPlainRules(text, { ignoresCase: true });
  expect(['A', '[Bb]in', '[A-Z]', '[a-z0-9]', 'A[1Cc]'].every(isPlain)).toBe(true);
  expect(['[B]in', '[bB]', '[AB]'].some(isPlain)).toBe(false);
});

test('very many rules are not plain, because ripgrep makes nothing of them', () => {
  expect(hasOnlyPlainRules('abc?\n'.repeat(3000))).toBe(true);
  expect(hasOnlyPlainRules('abc?\n'.repeat(4000))).toBe(false);
});

test('a comment that is no text makes a file odd, and one without rules has none', () => {
  expect(hasOnlyPlainRules('# \xff\na')).toBe(false);
  expect(hasNoRules('# \xff\n\n')).toBe(true);
  expect(hasNoRules('a')).toBe(false);
});

const names = [
  'a',
  'b',
  'ab',
  'A',
  'a.o',
  'b.c',
  '.x',
  '#a',
  '!a',
  'a0',
  'é',
  'a-b',
  'a~',
  'a b',
  ' a',
  'a$(b)',
  '_a',
  '^a|b',
  'B',
];
// biome-ignore format: a table is read at a glance
const pieces = ['a', 'b', 'A', '.', '.o', 'c', 'x', '*', '*', '?', '0', '-', '~', '[ab]', '[a-z]', '[0-9]', '[Aa]', '[A]', '[A-Z]', '#', '\\#', '\\!', '/', '/', '/**', '/**/', '**', ' ', '$', '(', ')', '&', '\'', '"', '<', '>', '|', '^', ';', '[._]', '[a-n]', '[B-Y]', '[1-3b]'];

function randomRules(random: (below: number) => number, ignoresCase: boolean): string {
  const pick = (from: readonly string[]) => from[random(from.length)] ?? '';
  const rule = () =>
    pick(['', '', '', '!']) +
    pick(['', '', '/', '**/']) +
    Array.from({ length: 1 + random(4) }, () => pick(pieces)).join('') +
    pick(['', '', '/', ' ']);
  const rules = Array.from({ length: 1 + random(5) }, rule).filter((text) => hasOnlyPlainRules(text, { ignoresCase }));
  return rules.join(pick(['\n', '\n', '\r\n']));
}

const namesOf = (output: string) =>
  output
    .split('\0')
    .filter((name) => name !== '')
    .toSorted();

function listedByGit(directory: string, ignoresCase: boolean): string[] {
  const settings = ['-c', 'core.excludesFile=', '-c', `core.ignoreCase=${ignoresCase}`];
  const args = [...settings, 'ls-files', '-z', '--others', '--exclude-standard'];
  return namesOf(execFileSync('git', args, { cwd: directory, encoding: 'utf8' })).map((name) => join(directory, name));
}

function listedByRipgrep(directory: string, ignoresCase: boolean): string[] {
  // It ends with 1 when there is nothing to list.
  const flags = ['--no-config', '--files', '--hidden', '--no-ignore-dot', '--no-ignore-global', '--glob=!.git', '-0'];
  if (ignoresCase) flags.push('--ignore-file-case-insensitive');
  return namesOf(spawnSync(rgPath, [...flags, '--', directory], { encoding: 'utf8' }).stdout);
}

const isIgnored = (root: string, path: string, ignoresCase: boolean) => {
  const args = ['-c', 'core.excludesFile=', '-c', `core.ignoreCase=${ignoresCase}`, 'check-ignore', '-q', path];
  return spawnSync('git', args, { cwd: root }).status === 0;
};

const rounds = isLong ? 1000 : 60;

// SJ05
// Elsewhere `a` and `A` may be the same file.
test.skipIf(!hasProgram('git') || process.platform !== 'linux')(
  `${rounds} times, git and ripgrep take plain rules alike, seen from the top and from below`,
  { timeout: 300_000 },
  () => {
    const root = tempDirectory();
    execFileSync('git', ['init', '-q', root]);
    const directories = ['', 'a', 'b', 'a/ab', 'a/ab/A', '.x', 'a.o'].map((name) => join(root, name));
    for (const directory of directories) mkdirSync(directory, { recursive: true });
    const files = directories.flatMap((directory) => names.map((name) => join(directory, name)));
    for (const file of files) if (!directories.includes(file)) writeFileSync(file, '');
    let shown = 0;
    for (let round = 0; round < rounds; round++) {
      const random = randomBelow(usualSeed + round);
      const ignoresCase = random(2) === 0;
      const texts = ['', 'a', 'a/ab'].map((directory) => {
        const text = random(3) === 0 ? '' : randomRules(random, ignoresCase);
        writeFileSync(join(root, directory, '.gitignore'), text);
        return text;
      });
      const context = `LATHE_SEED=${usualSeed}, round ${round}, ${ignoresCase}: ${JSON.stringify(texts)}`;
      for (const directory of ['', 'a/ab']) {
        if (directory !== '' && isIgnored(root, directory, ignoresCase)) continue;
        const listed = listedByGit(join(root, directory), ignoresCase);
        expect(listedByRipgrep(join(root, directory), ignoresCase), `${context} ${directory}`).toEqual(listed);
        shown += listed.length;
      }
      report('sets of plain rules that git and ripgrep take alike', 1);
    }
    expect(shown).toBeGreaterThan(rounds * 10);
  },
);
