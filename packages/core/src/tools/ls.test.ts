import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { textOf } from '../contract/content.js';
import { directCall } from '../contract/tool-call.js';
import type { Visibility } from '../files/access/visibility.js';
import { IgnoreRules } from '../files/ignore/ignore-rules.js';
import { Workspace } from '../files/workspace.js';
import { LSTool } from './ls.js';

async function toolIn(root: string, visibility: Partial<Visibility> = {}): Promise<LSTool> {
  const workspace = await Workspace.open(root);
  return new LSTool(workspace, { rules: new IgnoreRules(workspace.roots), ...visibility });
}

async function list(root: string, params: object = {}, visibility: Partial<Visibility> = {}) {
  const tool = await toolIn(root, visibility);
  return tool.execute({ path: root, ...params }, new AbortController().signal);
}

test('what the model sees of the tool stays the same', async () => {
  const { name, description, parameterSchema } = await toolIn(tempDirectory());
  expect({ name, description, parameterSchema }).toMatchSnapshot();
});

test('directories come first, both groups are sorted, files have sizes', async () => {
  const root = tempDirectory({ 'b.txt': 'x'.repeat(1500), 'a.txt': 'abc', 'z/x': '', 'c/x': '' });
  expect(await list(root)).toEqual({
    llmContent: `4 entries in ${root}:\n[DIR] c\n[DIR] z\na.txt (3)\nb.txt (1.5K)`,
    returnDisplay: 'Listed 4 item(s).',
  });
});

test('every kind of rule hides entries and is counted', async () => {
  const root = tempDirectory({
    '.git/HEAD': '',
    '.gitignore': '*.log\n',
    '.qwenignore': 'q.txt\n',
    '.latheignore': 'l.txt\n',
    'a.log': '',
    'q.txt': '',
    'l.txt': '',
    'x.tmp': '',
    keep: '',
  });
  const { llmContent, returnDisplay } = await list(root, { ignore: ['*.tmp', '.*ignore'] });
  expect(llmContent).toBe(`1 entry in ${root}:\nkeep (0)\n(2 git-ignored, 2 qwen-ignored, 4 left out by ignore)`);
  expect(returnDisplay).toBe('Listed 1 item(s). (2 git-ignored, 2 qwen-ignored, 4 left out by ignore)');
});

test('ignore rules can be left aside, but .git stays hidden', async () => {
  const root = tempDirectory({ '.git/HEAD': '', '.gitignore': 'a\n', '.qwenignore': 'b\n', a: '', b: '' });
  const all = { file_filtering_options: { respect_git_ignore: false, respect_qwen_ignore: false } };
  expect((await list(root, all)).llmContent).toBe(
    `4 entries in ${root}:\n.gitignore (2)\n.qwenignore (2)\na (0)\nb (0)\n(1 git-ignored)`,
  );
  const git = { file_filtering_options: { respect_git_ignore: false } };
  expect((await list(root, git)).llmContent).toContain('\na (0)\n(1 git-ignored, 1 qwen-ignored)');
  const settings = { disregard: new Set(['git', 'agent'] as const) };
  expect((await list(root, {}, settings)).llmContent).toContain('\na (0)\nb (0)\n');
});

describe('three results that are not lists', () => {
  test('an empty directory', async () => {
    const root = tempDirectory();
    expect(await list(root)).toEqual({ llmContent: `${root} is empty.`, returnDisplay: 'Directory is empty.' });
  });

  test('a file', async () => {
    const root = tempDirectory({ file: '' });
    await expect(list(root, { path: join(root, 'file') })).rejects.toMatchObject({ type: 'path_is_not_a_directory' });
  });

  test('nothing', async () => {
    const root = tempDirectory();
    await expect(list(root, { path: join(root, 'none') })).rejects.toMatchObject({ type: 'ls_execution_error' });
  });
});

test.each([
  ['relative', 'path must be an absolute path'],
  ['../up', 'path must be an absolute path'],
  ['~', 'path must be an absolute path'],
  ['/a\0b', 'NUL'],
])('the path %j is refused before anything is touched', async (path, reason) => {
  expect((await toolIn(tempDirectory())).validateToolParams({ path })).toContain(reason);
});

test('an ignore pattern that explodes is refused', async () => {
  const tool = await toolIn(tempDirectory());
  expect(tool.validateToolParams({ path: '/', ignore: ['{a,b}'.repeat(30)] })).toContain('more than 1000 patterns');
});

test('ignore patterns that are too many together are refused', async () => {
  const tool = await toolIn(tempDirectory());
  const globs = (count: number) => Array.from({ length: count }, (_, index) => `*${index % 10}{a,b}*.tmp`);
  expect(tool.validateToolParams({ path: '/', ignore: globs(1000) })).toBeNull();
  expect(tool.validateToolParams({ path: '/', ignore: globs(2000) })).toContain('more than 16384 characters');
});

test.skipIf(process.platform === 'win32')(
  'links, pipes and odd names are shown for what they are, on one line each',
  async () => {
    const root = tempDirectory({ 'dir/x': '', file: 'abc' });
    symlinkSync('dir', join(root, 'to-dir'));
    symlinkSync('file', join(root, 'to-file'));
    symlinkSync('gone', join(root, 'broken'));
    symlinkSync('loop', join(root, 'loop'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    writeFileSync(join(root, 'new\nline\x1b[31m'), '');
    writeFileSync(Buffer.concat([Buffer.from(`${root}/bad-`), Buffer.from([0xff])]), 'x');
    expect((await list(root)).llmContent).toBe(
      [
        `9 entries in ${root}:`,
        '[DIR] dir',
        '[DIR] to-dir -> dir',
        'bad-\\xFF (1)',
        'broken -> gone (missing)',
        'file (3)',
        'loop -> (ELOOP)',
        'new\\x0Aline\\x1B[31m (0)',
        'pipe (pipe)',
        'to-file -> file',
      ].join('\n'),
    );
  },
);

test('what may not be read is absent from the list and from the counts', async () => {
  const root = tempDirectory({ 'secret.txt': '', 'open.txt': '' });
  const { llmContent } = await list(root, {}, { canRead: (path) => !path.endsWith('secret.txt') });
  expect(llmContent).toBe(`1 entry in ${root}:\nopen.txt (0)`);
});

// RL08
test('a hostile ignore file is noted, the list comes all the same', async () => {
  const root = tempDirectory({ '.git/HEAD': '', '.gitignore/x': '', a: '' });
  expect((await list(root)).llmContent).toBe(
    `2 entries in ${root}:\n[DIR] .gitignore\na (0)\n(1 git-ignored)\n(ignore files not used: ${root}/.gitignore: not a regular file)`,
  );
});

test('a directory that is ignored is listed when it is named', async () => {
  const root = tempDirectory({ '.git/HEAD': '', '.gitignore': 'build/**\nbuild/\n', 'build/a': '' });
  expect((await list(root, { path: join(root, 'build') })).llmContent).toBe(`1 entry in ${root}/build:\na (0)`);
});

// RL02, SJ07
test('a large directory is cut, counted, and says what to do next', { timeout: 600_000 }, async () => {
  const root = tempDirectory();
  const count = process.env['LATHE_LONG'] === '1' ? 100_000 : 6000;
  for (let index = 0; index < count; index++) writeFileSync(join(root, `file-${String(index).padStart(6, '0')}`), '');
  mkdirSync(join(root, 'zzz'));
  const lines = textOf((await list(root)).llmContent).split('\n');
  expect(lines).toHaveLength(302);
  expect(lines.slice(0, 3)).toEqual([`${count + 1} entries in ${root}:`, '[DIR] zzz', 'file-000000 (0)']);
  expect(lines.at(-1)).toBe(`(${count + 1 - 300} more; use glob with part of the name to see them)`);
});

test('where directories are left over, the advice is one that shows them', async () => {
  const root = tempDirectory();
  for (let index = 0; index < 310; index++) mkdirSync(join(root, `dir-${index}`));
  const last = async (ignore: string[]) =>
    textOf((await list(root, { ignore })).llmContent)
      .split('\n')
      .at(-1);
  expect(await last([])).toBe('(10 more; leave some out with ignore to see them)');
  expect(await last(['dir-1*'])).toBe('(111 left out by ignore)');
});

// SC06
test('a directory that became a link since the call was judged is refused', async () => {
  const step = directCall();
  const root = tempDirectory({ 'd/inside': '' });
  const tool = await toolIn(root);
  const params = { path: join(root, 'd') };
  expect(await tool.getTargets(params, step)).toMatchObject([{ asks: false }]);
  renameSync(join(root, 'd'), join(root, 'was'));
  symlinkSync(tempDirectory({ outside: '' }), join(root, 'd'));
  await expect(tool.execute(params, new AbortController().signal, step)).rejects.toThrow('replaced by a symlink');
});

test('an aborted call ends with the reason', async () => {
  const root = tempDirectory({ a: '' });
  await expect((await toolIn(root)).execute({ path: root }, AbortSignal.abort('enough'))).rejects.toBe('enough');
});

// RL04
test.skipIf(process.getuid?.() === 0)('a directory that may not be read is a typed error', async () => {
  const root = tempDirectory({ 'closed/x': '' });
  chmodSync(join(root, 'closed'), 0);
  await expect(list(root, { path: join(root, 'closed') })).rejects.toMatchObject({ type: 'ls_execution_error' });
});

test('a directory outside asks first, and so does one behind a link', async () => {
  const outside = tempDirectory({ a: '' });
  const root = tempDirectory({ 'in/x': '' });
  symlinkSync(outside, join(root, 'out'));
  const tool = await toolIn(root);
  const signal = new AbortController().signal;
  for (const path of [outside, join(root, 'out'), join(root, 'in/../../'), `${root}-evil`])
    expect(await tool.getTargets({ path })).toMatchObject([{ asks: true }]);
  expect(await tool.getTargets({ path: join(root, 'in/../in/') })).toEqual([
    { type: 'path', access: 'read', path: join(root, 'in'), asks: false },
  ]);
  await expect(tool.execute({ path: join(root, 'out') }, signal)).rejects.toMatchObject({
    type: 'path_not_in_workspace',
  });
});
