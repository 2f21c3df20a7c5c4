import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { report } from '../../../../../testing/long-run.js';
import { hasProgram } from '../../../../../testing/programs.js';
import { randomBelow, usualSeed } from '../../../../../testing/random.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { fromBytePath, toBytePath } from '../byte-path.js';
import { type IgnoredBy, IgnoreRules } from '../ignore/ignore-rules.js';
import { findFiles } from './find-files.js';
import { Ripgrep } from './ripgrep.js';
import { searchText } from './search-text.js';
import { walk } from './walk.js';
import { WalkNotes } from './walk-notes.js';

/**
 * Random trees with nested, negated and odd ignore files, seen by other programs. Our own rules, which judge single
 * paths, see what git sees; a search sees what ripgrep sees. By rules that mean the same to both, all see the same.
 */
const trees = process.env['LATHE_LONG'] === '1' ? 500 : 40;
const signal = new AbortController().signal;

// biome-ignore format: a table is read at a glance, one rule to a line is not
const plainRules = [
  'a', '/a', 'a/', 'b/', '/b/c', 'a/**', '**/c', 'b/**/a', '*', '/*', '*/', '!a', '!*/', '!b/c', '!*.txt', '*.txt', '*.log',
  '!keep*', 'keep*', '?', '[ab]', '[!a]', '.*', '!.*', 'a b', 'é*', '\\!x', '\\#x', '# note', '', 'x ', '!/b',
];
// biome-ignore format: a table is read at a glance, one rule to a line is not
const oddRules = [
  '[[:alpha:]]', '{a,b}', 'x\\ ', './b/**', './**/*.txt', 'b//**', '//**', 'b/[^/]*.txt', '[!/]*.txt', '/[^/]*', '*[^/]', 'b\\/c', '***/c', 'b/***/a',
  'b***', '**a', 'b**/a', 'x.txt\0a',
];
const directories = ['', 'a', 'b', 'b/c', 'b/c/a', 'sub dir', '.hidden', 'é'];
const names = [
  'a',
  'c',
  'x.txt',
  'y.log',
  'keep.log',
  '.dot',
  '!x',
  '#x',
  'a b',
  'é.txt',
  'x ',
  'new\nline',
  '-dash',
  'a:1:',
  '[ab]',
  '{a,b}',
];
const contents = [
  'needle\n',
  'hay\n',
  'hay\nNeedle needle\n\nneedle',
  'nee\ndle\n',
  '',
  'x'.repeat(3000) + 'needle\n',
  'needle\0\n',
  'needle\r\n',
  'needle\r',
  '12',
  '5\x01needle',
];
/** Most match nothing wide at the ends of lines, and of files. */
const patterns = ['needle', '$', '^$', String.raw`\s*$`, ';?$', String.raw`\z`, 'e|$', ' *$'];

/** A repository in a state that `seed` decides; returns its root and, for messages, its ignore files. */
function plant(seed: number, isOdd: boolean): { root: string; ignoreFiles: Record<string, string> } {
  const random = randomBelow(seed);
  const pick = (from: readonly string[]) => from[random(from.length)] ?? '';
  const rules = isOdd ? [...plainRules, ...oddRules] : plainRules;
  const root = tempDirectory();
  execFileSync('git', ['init', '-q', root]);
  for (const directory of directories) {
    if (random(4) === 0) continue;
    for (const name of names) {
      const path = join(root, directory, name);
      if (random(2) === 0 || directories.includes(join(directory, name))) continue;
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, pick(contents));
    }
  }
  const ignoreFiles: Record<string, string> = {};
  for (const path of ['.gitignore', 'b/.gitignore', 'b/c/.gitignore', '.hidden/.gitignore', '.git/info/exclude']) {
    if (random(2) === 0) continue;
    const text = Array.from({ length: 1 + random(4) }, () => pick(rules)).join('\n');
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), (ignoreFiles[path] = text));
  }
  return { root, ignoreFiles };
}

const namesOf = (output: string) =>
  output
    .split('\0')
    .filter((name) => name !== '')
    .toSorted();
const shown = (root: string, name: string) => join(root, name).replaceAll('\n', '\\x0A');

function listedByGit(root: string): string[] {
  const args = ['-C', root, '-c', 'core.excludesFile=', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  return namesOf(execFileSync('git', args, { encoding: 'utf8' }));
}

function listedByRipgrep(program: string, root: string): string[] {
  return namesOf(runRipgrep(program, ['--files', '--null', '--hidden', '-g', '!.git'], root));
}

async function walked(root: string, disregard: readonly IgnoredBy[] = []): Promise<string[]> {
  const options = { rules: new IgnoreRules([root]), disregard: new Set(disregard), signal };
  const paths: string[] = [];
  for await (const { path, files } of walk({ directory: toBytePath(root), ...options }))
    paths.push(...files.map((name) => fromBytePath(path + name)));
  return paths.toSorted();
}

async function found(root: string): Promise<string[]> {
  const limits = { limit: 1_000_000, timeoutMs: 60_000, signal, notes: new WalkNotes(), isInside: () => false };
  const rules = new IgnoreRules([root]);
  const { files } = await findFiles(new Ripgrep(), { directory: toBytePath(root), rules, ...limits });
  return files.map(({ path }) => path).toSorted();
}

test.skipIf(!hasProgram('git') || !hasProgram('find'))(
  `on ${trees} random trees our rules see what git and find see, and a search what ripgrep sees`,
  { timeout: 1_800_000 },
  async () => {
    const { rgPath } = await import('@vscode/ripgrep');
    for (let tree = 0; tree < trees; tree++) {
      const isOdd = tree % 2 === 1;
      const { root, ignoreFiles } = plant(usualSeed + tree, isOdd);
      const context = `LATHE_SEED=${usualSeed}, tree ${tree}: ${JSON.stringify(ignoreFiles)}`;

      const shownTo = (paths: readonly string[]) => paths.map((path) => shown(root, path)).toSorted();
      const visible = listedByRipgrep(rgPath, root);
      expect(await found(root), context).toEqual(shownTo(visible));
      expect(await walked(root), context).toEqual(shownTo(listedByGit(root)));
      if (!isOdd) expect(await walked(root), context).toEqual(shownTo(visible));

      const args = ['.', '-name', '.git', '-prune', '-o', '-type', 'f', '-print0'];
      const all = namesOf(execFileSync('find', args, { cwd: root, encoding: 'utf8' }));
      const everything = all.map((name) => name.replace(/^\.\//, ''));
      expect(await walked(root, ['git', 'agent']), context).toEqual(shownTo(everything));

      const searched = visible.filter((name) => !readFileSync(join(root, name)).includes(0));
      const pattern = patterns[tree % patterns.length] ?? '';
      const flags = ['--no-heading', '-H', '-n', '--null', '-S', '-e', pattern, '--'];
      if (pattern.includes('$')) flags.unshift('--crlf');
      const printed =
        searched.length === 0 ? '' : runRipgrep(rgPath, [...flags, ...searched.map((name) => `./${name}`)], root);
      const expected = [...printed.matchAll(/\.\/([^\0]*)\0(\d+):[^\n]*\n/g)].map(
        ([, name = '', line]) => `${shown(root, name)}:${line}`,
      );
      const search = {
        pattern,
        letters: 'smart',
        context: 0,
        kind: 'directory',
        limit: 1_000_000,
        timeoutMs: 60_000,
      } as const;
      const matches = await searchText(new Ripgrep(), {
        ...search,
        path: toBytePath(root),
        rules: new IgnoreRules([root]),
        signal,
      });
      const ours = matches.files.flatMap(({ path, lines }) => lines.map(({ number }) => `${path}:${number}`));
      expect(ours.toSorted(), context).toEqual(expected.toSorted());
      expect(matches.matches, context).toBe(expected.length);
      report('random trees searched like git, find and ripgrep do', 1);
    }
  },
);

/** Ripgrep ends with 1 when nothing matches. */
function runRipgrep(program: string, args: string[], cwd: string): string {
  try {
    return execFileSync(program, ['--no-config', ...args], { cwd, encoding: 'utf8' });
  } catch {
    return '';
  }
}
