import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { textOf } from '../contract/content.js';
import { directCall } from '../contract/tool-call.js';
import type { Visibility } from '../files/access/visibility.js';
import { IgnoreRules } from '../files/ignore/ignore-rules.js';
import { Ripgrep } from '../files/search/ripgrep.js';
import { Workspace } from '../files/workspace.js';
import { GlobTool } from './glob.js';

async function toolIn(
  root: string,
  visibility: Partial<Visibility> = {},
  extra: string[] = [],
  ripgrep = new Ripgrep(),
): Promise<GlobTool> {
  const workspace = await Workspace.open(root, extra);
  return new GlobTool(workspace, { rules: new IgnoreRules(workspace.roots), ...visibility }, ripgrep);
}

async function glob(root: string, params: { pattern: string; path?: string }, visibility: Partial<Visibility> = {}) {
  const result = await (await toolIn(root, visibility)).execute(params, new AbortController().signal);
  return textOf(result.llmContent).replaceAll(`${root}/`, '').split('\n');
}

async function found(root: string, pattern: string) {
  return (await glob(root, { pattern })).slice(1).toSorted();
}

/** Gives files ages in seconds. */
function age(root: string, seconds: Record<string, number>): void {
  const now = Date.now() / 1000;
  for (const [name, old] of Object.entries(seconds)) utimesSync(join(root, name), now - old, now - old);
}

test('what the model sees of the tool stays the same', async () => {
  const { name, description, parameterSchema } = await toolIn(tempDirectory());
  expect({ name, description, parameterSchema }).toMatchSnapshot();
});

test('a search that ran out of time does not say that there is nothing', async () => {
  const root = tempDirectory({ 'a/b': '' });
  const workspace = await Workspace.open(root);
  const tool = new GlobTool(workspace, { rules: new IgnoreRules([root]) }, new Ripgrep(), { searchMs: 0 });
  const { llmContent } = await tool.execute({ pattern: '**/b' }, new AbortController().signal);
  expect(textOf(llmContent).split('\n')).toEqual([
    `No file found so far that matches "**/b" in ${root}.`,
    '(The search took too long and is incomplete: search a smaller directory.)',
  ]);
});

test.each([1200, 12_000])('the newest of %i matches come first', { timeout: 120_000 }, async (count) => {
  const root = tempDirectory();
  const ages: Record<string, number> = {};
  for (let index = 0; index < count; index++) {
    mkdirSync(join(root, `d${index % 40}`), { recursive: true });
    const name = `d${index % 40}/f${index}.txt`;
    writeFileSync(join(root, name), '');
    ages[name] = (index * 7919) % 100_000;
  }
  age(root, ages);
  const lines = await glob(root, { pattern: '**/*.txt' });
  const expected = Array.from({ length: count }, (_, index) => ({ index, old: (index * 7919) % 100_000 }))
    .sort((a, b) => a.old - b.old)
    .slice(0, 100)
    .map(({ index }) => `d${index % 40}/f${index}.txt`);
  expect(lines.slice(1, 101)).toEqual(expected);
  expect(lines[0]).toBe(`Found ${count} files matching "**/*.txt" in ${root}, newest first:`);
  expect(lines.at(-1)).toBe(`(${count - 100} more; narrow the pattern to see them)`);
});

test('one file, no file, and files of the same age are reported and ordered', async () => {
  const root = tempDirectory({ 'b.ts': '', 'a.ts': '', 'c.js': '' });
  age(root, { 'a.ts': 5, 'b.ts': 5 });
  expect(await glob(root, { pattern: '*.ts' })).toEqual([
    `Found 2 files matching "*.ts" in ${root}, newest first:`,
    'a.ts',
    'b.ts',
  ]);
  expect((await glob(root, { pattern: '*.js' }))[0]).toBe(`Found 1 file matching "*.js" in ${root}, newest first:`);
  expect(await glob(root, { pattern: '*.py' })).toEqual([`No files match "*.py" in ${root}.`]);
});

test('letters match in any case, dots are nothing special', async () => {
  const root = tempDirectory({ 'SRC/Read.TS': '', 'src2/.env.ts': '' });
  expect(await found(root, 'src/*.ts')).toEqual(['SRC/Read.TS']);
  expect(await found(root, '**/*.ts')).toEqual(['SRC/Read.TS', 'src2/.env.ts']);
});

test.each([
  ['app/[id]/(group)/page [1].tsx', 'app/[id]/(group)/page [1].tsx'],
  ['**/page [1].tsx', 'app/[id]/(group)/page [1].tsx'],
  ['app/[id]/**', 'app/[id]/(group)/page [1].tsx'],
  ['{x,y}', '{x,y}'],
  ['caf?.md', 'café.md'],
])('%s finds the name that is spelled like it', async (pattern, name) => {
  const root = tempDirectory({ 'app/[id]/(group)/page [1].tsx': '', '{x,y}': '', 'café.md': '' });
  expect(await found(root, pattern)).toEqual([name]);
});

test('a pattern may be absolute, or lead up and down again', async () => {
  const root = tempDirectory({ 'src/a.ts': '', 'lib/b.ts': '' });
  expect(await found(root, `${root}/src/*.ts`)).toEqual(['src/a.ts']);
  expect(await found(root, `${root}/src/a.ts`)).toEqual(['src/a.ts']);
  expect((await glob(root, { pattern: '../lib/*.ts', path: 'src' })).slice(1)).toEqual(['lib/b.ts']);
  expect(await (await toolIn(root)).getTargets({ pattern: '../../*' })).toMatchObject([{ asks: true }]);
});

test('ignored directories are not entered, negated rules keep files', async () => {
  const root = tempDirectory({
    '.git/HEAD': '',
    '.gitignore': 'node_modules/\n*.log\n!keep.log\n',
    '.latheignore': 'private\n',
    'node_modules/x/index.js': '',
    'private/a.js': '',
    'a.log': '',
    'keep.log': '',
    'src/a.js': '',
  });
  expect(await found(root, '**/*.js')).toEqual(['src/a.js']);
  expect(await found(root, '**/*.log')).toEqual(['keep.log']);
  expect(await found(root, '**/HEAD')).toEqual([]);
  expect((await glob(root, { pattern: '**/*.js', path: 'node_modules/x' })).slice(1)).toEqual([
    'node_modules/x/index.js',
  ]);
  expect(await glob(root, { pattern: '*', path: 'private' })).toEqual([
    'No files match "*" in private.',
    '(hidden by .qwenignore or .latheignore: private)',
  ]);
});

// RL01, SJ05
test('symlinks are listed when they lead to a file inside, and never followed', async () => {
  const outside = tempDirectory({ file: '', 'sub/b': '' });
  const root = tempDirectory({
    '.git/HEAD': '',
    '.gitignore': 'ignored\n',
    '.latheignore': 'hidden\n',
    'AGENTS.md': '',
    'a/b/file': '',
    '.ssh/id_a': '',
  });
  const links = {
    'CLAUDE.md': 'AGENTS.md',
    'a/link': 'b/file',
    'a/up': '..',
    self: 'self',
    dangling: 'none',
    ignored: 'AGENTS.md',
    hidden: 'AGENTS.md',
    denied: 'a/b/file',
    out: join(outside, 'file'),
    'a/sub': join(outside, 'sub'),
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
  const usual = ['.gitignore', '.latheignore', '.ssh/id_a', 'AGENTS.md', 'CLAUDE.md', 'a/b/file', 'a/link', 'denied'];
  expect(await found(root, '**')).toEqual(usual);
  expect(await found(root, 'claude.md')).toEqual(['CLAUDE.md']);
  expect(await found(root, 'a/l*')).toEqual(['a/link']);
  const canRead = (path: string) => !path.endsWith('/a/b/file');
  const shown = await glob(root, { pattern: '**' }, { canRead });
  expect(shown.slice(1).toSorted()).toEqual(usual.filter((path) => !['a/b/file', 'a/link', 'denied'].includes(path)));
});

test.skipIf(process.platform !== 'linux')('names of any bytes are found, each on one line', async () => {
  const root = tempDirectory({ 'new\nline.ts': '', 'colon:1:.ts': '', '-dash.ts': '' });
  writeFileSync(Buffer.concat([Buffer.from(`${root}/bad-`), Buffer.from([0xff]), Buffer.from('.ts')]), '');
  expect(await found(root, '*.ts')).toEqual(['-dash.ts', 'bad-\\xFF.ts', 'colon:1:.ts', 'new\\x0Aline.ts']);
});

test('what may not be read is absent, and so is all below it', async () => {
  const root = tempDirectory({ 'secret/a.ts': '', 'open/b.ts': '', 'open/c.ts': '' });
  const canRead = (path: string) => path !== join(root, 'secret') && path !== join(root, 'open/c.ts');
  expect(await glob(root, { pattern: '**' }, { canRead })).toEqual([
    `Found 1 file matching "**" in ${root}, newest first:`,
    'open/b.ts',
  ]);
});

test('without a path all directories of the workspace are searched, each file once', async () => {
  const [first, second] = [tempDirectory({ 'a.ts': '', 'inner/b.ts': '' }), tempDirectory({ 'c.ts': '' })];
  const tool = await toolIn(first, {}, [second, join(first, 'inner')]);
  const { llmContent } = await tool.execute({ pattern: '**/*.ts' }, new AbortController().signal);
  expect(textOf(llmContent).split('\n').slice(1).toSorted()).toEqual(
    [`${first}/a.ts`, `${first}/inner/b.ts`, `${second}/c.ts`].toSorted(),
  );
});

test('a directory of the workspace that does not exist yet is noted', async () => {
  const root = tempDirectory({ 'a.ts': '' });
  const tool = await toolIn(root, {}, [join(root, '../none')]);
  const { llmContent } = await tool.execute({ pattern: '*.ts' }, new AbortController().signal);
  expect(textOf(llmContent).split('\n').slice(1)).toEqual([
    `${root}/a.ts`,
    `(directories of the workspace not searched: ${join(root, '../none')}: ENOENT)`,
  ]);
  await expect(tool.execute({ pattern: '*', path: '../none' }, new AbortController().signal)).rejects.toMatchObject({
    type: 'search_path_not_found',
  });
});

// SC06
test('a directory above that became a link since the call was judged is refused', async () => {
  const step = directCall();
  const root = tempDirectory({ 'p/d/inside': '' });
  const outside = tempDirectory({ 'd/outside': '' });
  const tool = await toolIn(root);
  const params = { pattern: '*', path: 'p/d' };
  expect(await tool.getTargets(params, step)).toMatchObject([{ asks: false }]);
  renameSync(join(root, 'p'), join(root, 'was'));
  symlinkSync(outside, join(root, 'p'));
  await expect(tool.execute(params, new AbortController().signal, step)).rejects.toMatchObject({
    type: 'search_path_not_found',
    message: expect.stringContaining('replaced by a symlink'),
  });
});

test.each([
  ['src', '(**/src is the file at any depth, src/** what is in a directory of that name)'],
  ['src/', '(**/src is the file at any depth, src/** what is in a directory of that name)'],
  ['ROOT/src', '(src/** is what is in a directory of that name)'],
])('the pattern %s, of a directory, gets a hint', async (pattern, hint) => {
  const root = tempDirectory({ 'src/a': '' });
  expect((await glob(root, { pattern: pattern.replace('ROOT', root) })).at(-1)).toBe(hint);
});

test.skipIf(process.platform === 'win32')(
  'a directory that becomes a link shows nothing of where it leads',
  async () => {
    const root = tempDirectory({ 'b.txt': '' });
    symlinkSync(tempDirectory({ 'a.txt': '' }), join(root, 'sub'));
    const program = join(tempDirectory({ rg: `#!/bin/sh\nprintf '${root}/sub/a.txt\\0${root}/b.txt\\0'\n` }), 'rg');
    chmodSync(program, 0o755);
    const tool = await toolIn(root, {}, [], new Ripgrep(() => Promise.resolve(program)));
    const { llmContent } = await tool.execute({ pattern: '**' }, new AbortController().signal);
    expect(textOf(llmContent).split('\n')).toEqual([
      `Found 1 file matching "**" in ${root}, newest first:`,
      join(root, 'b.txt'),
      `(moved during the search and not shown: ${root}/sub/a.txt)`,
    ]);
  },
);

// RL05
describe('refusals', () => {
  test.each([
    ['', 'empty'],
    ['  ', 'empty'],
    ['{a,b}'.repeat(30), 'more than 1000'],
    ['x'.repeat(100_000), 'longer than'],
    ['*/../..', '".." may only stand in front'],
    ['..', '".." may only stand in front'],
    ['*.ts,*.js', 'written {*.ts,*.js}'],
    ['{/abs/a,/x}/*', 'braces may not begin with a slash'],
  ])('the pattern %#', async (pattern, reason) => {
    expect((await toolIn(tempDirectory())).validateToolParams({ pattern })).toContain(reason);
  });

  test('a path that is missing or a file is a typed error', async () => {
    const root = tempDirectory({ file: '' });
    await expect(glob(root, { pattern: '*', path: 'none' })).rejects.toMatchObject({ type: 'search_path_not_found' });
    await expect(glob(root, { pattern: '*', path: 'file' })).rejects.toMatchObject({
      type: 'search_path_not_a_directory',
    });
  });

  test('a path outside needs approval', async () => {
    const outside = tempDirectory({ a: '' });
    const root = tempDirectory();
    symlinkSync(outside, join(root, 'out'));
    for (const path of [outside, 'out', `${root}-evil`, '..'])
      await expect(glob(root, { pattern: '*', path })).rejects.toMatchObject({ type: 'path_not_in_workspace' });
  });
});

test.skipIf(process.platform !== 'linux')('files that cannot be looked at come last and are noted', async () => {
  const root = tempDirectory({ 'z.ts': '' });
  const deep = join(root, ...Array.from({ length: 21 }, () => 'd'.repeat(200))).slice(0, 4090);
  mkdirSync(deep, { recursive: true });
  execFileSync('touch', ['a-name-that-makes-the-path-too-long.ts'], { cwd: deep });
  age(root, { 'z.ts': 1000 });
  const lines = await glob(root, { pattern: '**/*.ts' });
  execFileSync('rm', ['-rf', root]);
  expect(lines).toEqual([
    `Found 2 files matching "**/*.ts" in ${root}, newest first:`,
    'z.ts',
    expect.stringMatching(/too-long\.ts$/),
    expect.stringMatching(/^\(last, because their age could not be read: .*\)$/),
  ]);
});

// RL03
test.skipIf(process.platform !== 'linux' || !hasProgram('python3'))(
  'a tree deeper than paths may be long is searched as far as it can be',
  async () => {
    const root = tempDirectory({ top: '' });
    // Made by a process that walks down, because no single path is long enough.
    const script =
      'import os,sys\nos.chdir(sys.argv[1])\nfor i in range(1500):\n os.mkdir("deep")\n os.chdir("deep")\nopen("leaf","w")';
    execFileSync('python3', ['-c', script, root]);
    const lines = await glob(root, { pattern: '**' });
    execFileSync('rm', ['-rf', root]);
    expect(lines[1]).toBe('top');
    expect(lines.at(-1)).toMatch(/^\(files that could not be read: deep\/.{100,300} \(os error 36\)\)$/);
  },
);

test.skipIf(process.platform !== 'linux')('directories whose names differ in case are all searched', async () => {
  const root = tempDirectory({ 'src/a.ts': '', 'SRC/b.ts': '', 'src/x/c.ts': '', 'lib/d.ts': '' });
  expect(await found(root, 'src/*.ts')).toEqual(['SRC/b.ts', 'src/a.ts']);
  expect(await found(root, 'LIB/*')).toEqual(['lib/d.ts']);
  expect(await found(root, '{src,lib}/*.ts')).toEqual(['SRC/b.ts', 'lib/d.ts', 'src/a.ts']);
});

test('a pattern that names an ignored directory does not bring it back', async () => {
  const root = tempDirectory({ '.git/HEAD': '', '.gitignore': 'out/\n', 'out/a.ts': '', 'src/out/b.ts': '' });
  for (const pattern of ['out/*.ts', 'out/**', 'src/out/*', '.git/*', '**/*.ts', '**/out/*'])
    expect(await found(root, pattern)).toEqual([]);
});

describe.skipIf(process.platform === 'win32')('ending early', () => {
  const slowIn = (root: string) => {
    const program = join(tempDirectory({ rg: `#!/bin/sh\nprintf '${root}/a\\0${root}/b'\nexec sleep 100\n` }), 'rg');
    chmodSync(program, 0o755);
    return new Ripgrep(() => Promise.resolve(program));
  };

  test('a timeout returns what was found and says that it is incomplete', async () => {
    const root = tempDirectory({ a: '', b: '' });
    const workspace = await Workspace.open(root);
    const ripgrep = slowIn(root);
    const globFor = async (searchMs: number) => {
      const tool = new GlobTool(workspace, { rules: new IgnoreRules([root]) }, ripgrep, { searchMs });
      return textOf((await tool.execute({ pattern: '*' }, new AbortController().signal)).llmContent);
    };
    let text = 'No file';
    // A busy machine needs longer until the program has printed the file.
    for (let searchMs = 300; text.startsWith('No file'); searchMs *= 3) text = await globFor(searchMs);
    expect(text.split('\n')).toEqual([
      `Found at least 1 file matching "*" in ${root}, newest first:`,
      join(root, 'a'),
      '(The search took too long and is incomplete: search a smaller directory.)',
    ]);
  });

  test('an abort ends the process', async () => {
    const root = tempDirectory({ a: '' });
    const tool = await toolIn(root, {}, [], slowIn(root));
    const abort = new AbortController();
    setImmediate(() => abort.abort('enough'));
    await expect(tool.execute({ pattern: '*' }, abort.signal)).rejects.toBe('enough');
  });
});

test('an abort ends a walk at once', async () => {
  const root = tempDirectory({ a: '' });
  const tool = await toolIn(root);
  await expect(tool.execute({ pattern: '**' }, AbortSignal.abort('enough'))).rejects.toBe('enough');
});
