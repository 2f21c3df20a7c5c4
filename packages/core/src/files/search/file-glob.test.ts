import { execFileSync } from 'node:child_process';
import { basename } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { expect, test } from 'vitest';
import { isLong, report } from '../../../../../testing/long-run.js';
import { randomBelow, usualSeed } from '../../../../../testing/random.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { globProblem } from '../../text/glob/compile-glob.js';
import { fromBytePath, toBytePath } from '../byte-path.js';
import { IgnoreRules } from '../ignore/ignore-rules.js';
import { compileFileGlob } from './file-glob.js';
import { Ripgrep } from './ripgrep.js';
import { searchText } from './search-text.js';

async function found(root: string, glob: string): Promise<string[]> {
  const { files } = await searchText(new Ripgrep(), {
    pattern: 'foo',
    letters: 'smart',
    context: 0,
    path: toBytePath(root),
    kind: 'directory',
    glob,
    limit: 1000,
    timeoutMs: 60_000,
    rules: new IgnoreRules([root]),
    signal: new AbortController().signal,
  });
  return files.map(({ path }) => path.slice(path.lastIndexOf('/') + 1)).toSorted();
}

// biome-ignore format: a table is read at a glance
const names = [
  'a', 'b', 'ab', 'aA', 'A.txt', 'a.txt', 'é.txt', 'éé', '日本.txt', '.a', '.txt', 'a..txt', '-', '-a', 'a-b', '!a', '#a', 'a b', '[ab]',
  '[ab].txt', '{a,b}', '{a,b}.txt', '{a}', 'a{b', 'b,a', '*', '**', '?', 'a?', 'a*b', 'a\\b', '\\*', 'a^b', ']', 'a]',
];

/** Each in its own directory, so that no odd name changes how the others are searched. */
const tree = () => tempDirectory(Object.fromEntries(names.map((name, index) => [`${index}/${name}`, 'foo'])));

test.skipIf(process.platform !== 'linux').each([
  ['?.txt', ['A.txt', 'a.txt', 'é.txt']],
  ['??.txt', ['a..txt', '日本.txt']],
  ['{a,b}.txt', ['a.txt', '{a,b}.txt']],
  ['a*', ['a', 'aA', 'a..txt', 'a.txt', 'a-b', 'a b', 'a{b', 'a?', 'a*b', 'a\\b', 'a^b', 'a]', 'ab']],
])('the glob %s finds %j', async (glob, expected) => {
  expect(await found(tree(), glob)).toEqual(expected.toSorted());
});

test.each(['src', 'src/', '/src', 'src/*', 'src/sub', '*.ts', 'b.ts/', '**/sub/**', 's*/', '{src,lib}', '**/src/sub'])(
  'the glob !%s leaves out what it leaves out for ripgrep',
  async (glob) => {
    const paths = ['a.ts', 'b.ts', 'src/b.ts', 'src/sub/c', 'src/sub/d.ts/e', 'lib/src/sub/f', 'lib/sub'];
    const root = tempDirectory(Object.fromEntries(paths.map((path) => [path, 'foo'])));
    const listed = execFileSync(rgPath, ['-l', '-g', `!${glob}`, 'foo', '.'], { cwd: root, encoding: 'utf8' });
    const expected = Array.from(listed.matchAll(/.+/g), ([path]) => basename(path));
    expect(await found(root, `!${glob}`)).toEqual(expected.toSorted());
  },
);

// biome-ignore format: a table is read at a glance
const pieces = [
  'a', 'b', 'A', 'é', 'txt', '.', '.txt', '-', '*', '*', '**', '?', '[ab]', '[!a]', '[^a]', '[a-c]', '[]]', '[', ']', '{a,b}', '{a,{b,.txt}}', '{*,a}', '{a}', '{', '}', ',',
  '\\', '\\*', '!', '#', ' ',
];
const rounds = isLong ? 500 : 60;

test.skipIf(process.platform !== 'linux')(
  `${rounds} random globs mean the same to ripgrep and to us`,
  { timeout: 1_800_000 },
  async () => {
    const root = tree();
    const all = names.map((name, index) => ({ name: fromBytePath(toBytePath(name)), directory: String(index) }));
    const random = randomBelow(usualSeed);
    for (let round = 0; round < rounds; round++) {
      const glob = Array.from({ length: 1 + random(4) }, () => pieces[random(pieces.length)]).join('');
      if (globProblem(glob) !== undefined) continue;
      const { start } = compileFileGlob(glob, root);
      const matching = all.filter(({ name, directory }) => start.enter(directory)?.matches(name));
      const expected = matching.map(({ name }) => name).toSorted();
      expect(await found(root, glob), `LATHE_SEED=${usualSeed}, round ${round}: ${glob}`).toEqual(expected);
      report('random globs that mean the same to ripgrep and to us', 1);
    }
  },
);
