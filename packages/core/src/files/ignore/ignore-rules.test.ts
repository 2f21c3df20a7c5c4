import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasProgram } from '../../../../../testing/programs.js';
import { randomBelow, usualSeed } from '../../../../../testing/random.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { walk } from '../search/walk.js';
import { WalkNotes } from '../search/walk-notes.js';
import { userExcludes } from './git-excludes.js';
import { IgnoreRules } from './ignore-rules.js';

const file = { isDirectory: false };
const directory = { isDirectory: true };

describe('git rules', () => {
  test('hold inside a repository, nested and negated', () => {
    const root = tempDirectory({
      '.git/HEAD': '',
      '.git/info/exclude': 'private\n',
      '.gitignore': '*.log\nbuild/\n/only-here\n',
      'sub/.gitignore': '!keep.log\n*.tmp\n',
    });
    const rules = new IgnoreRules([root]);
    const hidden = (path: string) => rules.ignoredBy(join(root, path), file);
    expect(
      ['a.log', 'sub/a.log', 'sub/keep.log', 'a.tmp', 'sub/x.tmp', 'only-here', 'sub/only-here', 'sub/private'].map(
        hidden,
      ),
    ).toEqual(['git', 'git', undefined, undefined, 'git', 'git', undefined, 'git']);
    expect(rules.ignoredBy(join(root, 'build'), directory)).toBe('git');
    expect(hidden('build')).toBeUndefined();
    expect(hidden('build/deep/inside')).toBe('git');
  });

  test('hold nowhere else', () => {
    const root = tempDirectory({ '.gitignore': '*.log\n' });
    expect(new IgnoreRules([root]).ignoredBy(join(root, 'a.log'), file)).toBeUndefined();
  });

  test('of a repository above the workspace hold in the workspace', () => {
    const root = tempDirectory({ '.git/HEAD': '', '.gitignore': 'pkg/*.log\n' });
    expect(new IgnoreRules([join(root, 'pkg')]).ignoredBy(join(root, 'pkg/a.log'), file)).toBe('git');
  });

  test('of the outer repository do not reach into a nested one', () => {
    const root = tempDirectory({ '.git/HEAD': '', '.gitignore': '*.log\n', 'nested/.git/HEAD': '' });
    expect(new IgnoreRules([root]).ignoredBy(join(root, 'nested/a.log'), file)).toBeUndefined();
  });

  test('include the excludes of the repository a worktree belongs to', () => {
    const root = tempDirectory({
      'main/.git/info/exclude': 'private\n',
      'main/.git/worktrees/w/HEAD': '',
      'main/.git/worktrees/w/commondir': '../..\n',
      'w/.git': 'gitdir: ../main/.git/worktrees/w\n',
    });
    expect(new IgnoreRules([join(root, 'w')]).ignoredBy(join(root, 'w/private'), file)).toBe('git');
  });

  test('include the excludes file of the user', () => {
    const home = tempDirectory({
      '.gitconfig': '[user]\nname = x\n[core]\n\texcludesFile = ~/my ignore\n',
      'my ignore': '*.swp',
    });
    const root = tempDirectory({ '.git/HEAD': '' });
    const commented = tempDirectory({ '.gitconfig': '[core]\nexcludesFile = /x ; mine\n' });
    expect(userExcludes({}, commented)).toBe('/x');
    const rules = new IgnoreRules([root], { excludesFile: userExcludes({}, home) });
    expect(rules.ignoredBy(join(root, 'a.swp'), file)).toBe('git');
    expect(userExcludes({ XDG_CONFIG_HOME: '/x' }, '/nowhere')).toBe('/x/git/ignore');
  });

  test('are read through a link when it is the excludes file of the user', () => {
    const root = tempDirectory({ 'repository/.git/HEAD': '', rules: '*.swp\n' });
    const excludesFile = join(root, '.gitignore');
    symlinkSync('rules', excludesFile);
    const rules = new IgnoreRules([join(root, 'repository')], { excludesFile });
    expect(rules.ignoredBy(join(root, 'repository/a.swp'), file)).toBe('git');
  });

  test('include the excludes file that the configuration of the repository names, behind that of the user', () => {
    const root = tempDirectory({
      '.git/HEAD': '',
      '.git/config': '[core] excludesFile = listed.txt\n',
      'listed.txt': '*.o\n!a.swp\n',
      mine: '*.swp\n',
    });
    const rules = new IgnoreRules([root], { excludesFile: 'mine' });
    expect(rules.ignoredBy(join(root, 'a.o'), file)).toBe('git');
    expect(rules.ignoredBy(join(root, 'a.swp'), file)).toBe('git');
  });

  test.each(['.ssh/id_rsa', 'link', 'missing', '.ssh', 'directory', ''])(
    'say nothing of %j when the configuration of the repository names it',
    (name) => {
      const home = tempDirectory({ '.ssh/id_rsa': 'secret\n', 'directory/x': '' });
      symlinkSync('.ssh/id_rsa', join(home, 'link'));
      const config = `[core]\nexcludesFile = ${name === '' ? '' : join(home, name)}\n`;
      const root = tempDirectory({ '.git/HEAD': '', '.git/config': config });
      const problems: string[] = [];
      const level = new IgnoreRules([root]).in(root, (path) => problems.push(path));
      expect([level.judge('secret', false), problems]).toEqual([undefined, []]);
    },
  );

  test.each<[string, Record<string, string>]>([
    ['a directory without a HEAD', { 'sub/.git/x': '' }],
    ['a file that names nothing', { 'sub/.git': 'hello\n' }],
    ['a file that leads nowhere', { 'sub/.git': 'gitdir: ../nowhere\n' }],
  ])('hold below a .git that is %s', (_, files) => {
    const root = tempDirectory({ '.git/HEAD': '', '.gitignore': '*.log\n', ...files });
    const rules = new IgnoreRules([root]);
    expect(rules.ignoredBy(join(root, 'sub/a.log'), file)).toBe('git');
    expect(rules.ignoredBy(join(root, 'sub/.git'), file)).toBe('git');
  });

  test('ignore case where git does, and only there', () => {
    const files = { '.gitignore': 'Build/\n*.LOG\n!Keep.log\n/Src/*/X\n', '.latheignore': 'Mine\n' };
    const config = (value: string) => ({ '.git/HEAD': '', '.git/config': `[core]\n\tignoreCase = ${value}\n` });
    const root = tempDirectory({ ...config('true'), ...files, 'inner/.git/HEAD': '', 'inner/.gitignore': 'A' });
    const rules = new IgnoreRules([root]);
    const names = ['build/x', 'a.log', 'KEEP.LOG', 'src/a/x', 'SRC/A/X', 'mine', 'inner/a', 'inner/A'];
    const verdicts = () => names.map((name) => rules.ignoredBy(join(root, name), file));
    expect(verdicts()).toEqual(['git', 'git', undefined, 'git', 'git', undefined, undefined, 'git']);
    writeFileSync(join(root, '.git/config'), config('false')['.git/config']);
    expect(verdicts()).toEqual([undefined, undefined, 'git', undefined, undefined, undefined, undefined, 'git']);
  });

  test('are not read through a link, as git does not', () => {
    const root = tempDirectory({ '.git/HEAD': '', rules: '*.log\n' });
    symlinkSync('rules', join(root, '.gitignore'));
    const problems: string[] = [];
    const level = new IgnoreRules([root]).in(root, (_, reason) => problems.push(reason));
    expect([level.judge('a.log', false), problems]).toEqual([undefined, ['a link, which git does not follow']]);
  });

  test('a change holds at once', () => {
    const root = tempDirectory({ '.git/HEAD': '', '.gitignore': 'a\n' });
    const rules = new IgnoreRules([root]);
    expect(rules.ignoredBy(join(root, 'a'), file)).toBe('git');
    writeFileSync(join(root, '.gitignore'), 'b\n');
    expect(rules.ignoredBy(join(root, 'a'), file)).toBeUndefined();
  });
});

describe('agent ignore files', () => {
  test.each(['.qwenignore', '.latheignore'])('%s hides without a repository, and git cannot take it back', (name) => {
    const root = tempDirectory({ '.git/HEAD': '', [name]: 'secret/\n', '.gitignore': '!secret/\n', 'sub/a': '' });
    const rules = new IgnoreRules([root]);
    expect(rules.ignoredBy(join(root, 'secret'), directory)).toBe('agent');
    expect(rules.ignoredBy(join(root, 'secret/deep/file'), file)).toBe('agent');
    rmSync(join(root, '.git'), { recursive: true });
    expect(rules.ignoredBy(join(root, 'sub/secret/file'), file)).toBe('agent');
  });

  test('above the workspace are not read', () => {
    const root = tempDirectory({ '.latheignore': '*\n', 'work/a': '' });
    expect(new IgnoreRules([join(root, 'work')]).ignoredBy(join(root, 'work/a'), file)).toBeUndefined();
  });
});

test('.git is always hidden, and so is what is in it', () => {
  const root = tempDirectory({ '.git/HEAD': '' });
  const rules = new IgnoreRules([root]);
  expect(rules.ignoredBy(join(root, '.git'), directory)).toBe('git');
  expect(rules.ignoredBy(join(root, '.git/HEAD'), file)).toBe('git');
});

// RL08
describe('a hostile ignore file', () => {
  const problemsIn = (root: string) => {
    const problems: string[] = [];
    new IgnoreRules([root]).in(root, (path, reason) => problems.push(`${path.slice(root.length + 1)}: ${reason}`));
    return problems;
  };

  test('that is a directory is noted and not used', () => {
    const root = tempDirectory({ '.git/HEAD': '', '.gitignore/x': '' });
    expect(problemsIn(root)).toEqual(['.gitignore: not a regular file']);
  });

  test.skipIf(process.platform === 'win32')('that is a pipe does not block', () => {
    const root = tempDirectory({ '.git/HEAD': '' });
    execFileSync('mkfifo', [join(root, '.gitignore')]);
    expect(problemsIn(root)).toEqual(['.gitignore: not a regular file']);
  });

  test('of two megabytes is not read', () => {
    const root = tempDirectory({ '.git/HEAD': '', '.latheignore': 'x'.repeat(2 << 20) });
    expect(problemsIn(root)).toEqual(['.latheignore: larger than 128 KB']);
  });

  test('that comes after two megabytes of others is noted and not used', async () => {
    const rules = 'x'.repeat(120 << 10);
    const names = Array.from({ length: 20 }, (_, index) => `d${index}/.latheignore`);
    const root = tempDirectory(Object.fromEntries(names.map((name) => [name, rules])));
    const notes = new WalkNotes();
    const signal = new AbortController().signal;
    const seen = new Set<string>();
    const walked = walk({ directory: root, rules: new IgnoreRules([root]), signal, notes });
    for await (const { path } of walked) seen.add(path);
    expect(seen.size).toBe(21);
    expect(notes.lines()).toEqual([
      expect.stringMatching(
        /^\(ignore files not used: .*: all ignore files together are larger than 2 MB and 2 more\)$/,
      ),
    ]);
  });

  test('with more rules than can be tried on every name is noted and not used', () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `*a*${index}?`);
    const root = tempDirectory({ '.latheignore': `${lines.join('\n')}\n# *\nplain\n`, b: '' });
    expect(problemsIn(root)).toEqual([]);
    writeFileSync(join(root, '.latheignore'), `${lines.join('\n')}\n?b\n`);
    expect(problemsIn(root)).toEqual(['.latheignore: more than 5000 rules with wildcards']);
  });

  test('with a byte order mark and Windows line ends works', () => {
    const root = tempDirectory({ '.git/HEAD': '', '.gitignore': '\ufeffa.log\r\nb/\r\n' });
    const rules = new IgnoreRules([root]);
    expect(rules.ignoredBy(join(root, 'a.log'), file)).toBe('git');
    expect(rules.ignoredBy(join(root, 'b'), directory)).toBe('git');
  });

  const run = 120_000;

  test.each([
    ['backslashes', '.gitignore', `${'\\'.repeat(run)}a`],
    ['spaces', '.gitignore', `a${' '.repeat(run)}x`],
    ['spaces', 'sub/.git', `gitdir: ${' '.repeat(run)}x`],
    ['spaces', '.git/config', `[core] excludesFile = a${' '.repeat(run)}x`],
  ])('of %s costs no more time than its length, were it %s', { timeout: 10_000 }, (_, name, text) => {
    const root = tempDirectory({ '.git/HEAD': '', 'sub/x': '', [name]: text });
    expect(new IgnoreRules([root]).ignoredBy(join(root, 'sub/x'), file)).toBeUndefined();
  });

  test('of stars does not hang', () => {
    const root = tempDirectory({ '.git/HEAD': '', '.gitignore': `${'*a'.repeat(60)}*b\n`.repeat(100) });
    expect(new IgnoreRules([root]).ignoredBy(join(root, 'a'.repeat(255)), file)).toBeUndefined();
  });
});

// biome-ignore format: a table is read at a glance, one rule to a line is not
const oddRules = [
  'a', '/a', 'a/', '/a/', 'a/b', '/a/b', '**/a', 'a/**', 'a/**/b', '**', '/**', '*', '/*', '*/', '!a', '!/a', '!*/',
  '!a/b', '?', '[ab]', '[!a]', '[a-c]b', '[[:alpha:]]', '{a,b}', 'a*', '*b', '*a*', '.*', '!.*', 'a.b', '*.b', '*.a.b',
  'a**b', '**b', 'b**', '\\a', '\\!a', '\\#a', '#a', 'a\\', 'a ', 'a\\ ', 'a  ', '  a', '[a', 'a]', '[]a]', '[a', '/', '!', '//a',
  'a//b', './a', 'a/.', '*/b', 'a/*', 'a/*/', '**/b/', '!**/b', 'a/**/', '/a/**/b/c', '[^a]', '[a-]', 'b/../a', '\\[a\\]', 'c/', '!c', '[c-a]',
  './a/**', './**/b', 'a//**', '//**', 'a/[^/]*', 'a/[^/]*b', '[!/]*.b', '/[^/]*', '*[^/]', '[^/]b', 'a[/]b', '[a/]', '[b/]', 'a\\/b', '\\/a', 'ab\\/**',
  '***/b', '***', 'a/***', 'a/***/b', 'a***b', '**a', 'a**/b', '/a**/c', 'a/b**', '!a/b**', '?**/b', 'a**/', '/a**', 'a\0b', 'a \0', '\0', '[[:]', 'x[[:a-b:]', '[[:valueOf:]]',
  '[[:upper:]]', 'a[[:upper:]]b', '*/../a', './*', '**/.', 'a/**/**/b', '**/**', '!**/**/',
  'A', '!A', '/A/', 'C/', 'A/B', '*.B', '*B', 'A*', 'a[X]b', 'a[A-Z]b', 'a[xX]b', '[A-C]', '[A]', '\\A', 'A\\B', '**/B', 'A/**/B', 'axb', 'A?B',
  'qÉ*', '[[:lower:]]', '[\\A-C]', '[B-a]', 'A/*', 'a/b/Q*', '[^A]', '[^A-Z]',
];
// biome-ignore format: a table is read at a glance
const names = [
  'a', 'b', 'c', 'ab', 'a.b', 'x.a.b', '.a', '!a', '#a', ' a', 'a ', '[a', '{a,b}', 'aXb', 'Q', 'Qé', 'Y.B',
];

test.skipIf(!hasProgram('git'))(
  'every verdict is the one of git, on odd rules and odd names',
  { timeout: 1_800_000 },
  () => {
    const random = randomBelow(usualSeed);
    const pick = (from: readonly string[]) => from[random(from.length)] ?? '';
    const rounds = process.env['LATHE_LONG'] === '1' ? 500 : 40;
    for (let round = 0; round < rounds; round++) {
      const root = tempDirectory();
      execFileSync('git', ['init', '-q', root]);
      execFileSync('git', ['-C', root, 'config', 'core.ignoreCase', pick(['true', 'false'])]);
      const directories = ['', 'a/', 'a/b/', 'c/', 'ab/', 'ab/c/'];
      for (const path of directories) mkdirSync(join(root, path), { recursive: true });
      const paths = directories
        .flatMap((path) => names.map((name) => path + name))
        .filter((path) => !directories.includes(`${path}/`));
      for (const path of paths) writeFileSync(join(root, path), '');
      const texts: Record<string, string> = {};
      for (const path of ['.gitignore', 'a/.gitignore', 'ab/c/.gitignore', '.git/info/exclude']) {
        if (random(3) === 0) continue;
        const lines = Array.from({ length: 1 + random(5) }, () => pick(oddRules));
        writeFileSync(join(root, path), (texts[path] = lines.join(pick(['\n', '\n', '\r\n']))));
      }

      const listed = execFileSync(
        'git',
        ['-C', root, '-c', 'core.excludesFile=/dev/null', 'ls-files', '-o', '-z', '--exclude-standard'],
        { encoding: 'utf8' },
      );
      const expected = listed.split('\0').filter((path) => paths.includes(path));
      const rules = new IgnoreRules([root]);
      const shown = paths.filter((path) => rules.ignoredBy(join(root, path), file) === undefined);
      expect(shown.toSorted(), `LATHE_SEED=${usualSeed}, round ${round}: ${JSON.stringify(texts)}`).toEqual(
        expected.toSorted(),
      );
    }
  },
);
