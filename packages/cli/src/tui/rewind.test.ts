import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables, runProgram } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { terminal, think } from '../../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

test.each([
  [120, 40],
  [80, 24],
  [60, 18],
])(
  'at %d × %d Esc twice lists the prompts, one shows a preview, and the way leads back and forward again',
  async (columns, rows) => {
    const cwd = tempDirectory({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
    const command = {
      name: 'run_shell_command',
      args: { command: 'echo two > a.txt; echo two > b.txt; echo two > c.txt' },
    };
    const server = await modelServer([{ calls: [command] }, { text: 'All changed.' }]);
    const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'key-for-tests', OPENAI_MODEL: 'stub' };
    const { type, shows, exited, text, visible } = terminal(['--yolo', 'change the files'], {
      cwd,
      env,
      columns,
      rows,
    });
    await shows('All changed.');
    await shows('Ask for anything.');
    writeFileSync(join(cwd, 'b.txt'), 'by a person\n');
    await think();
    type('\u001b\u001b');
    await shows('❯ 1  change the files');
    type('1');
    await shows('What should go back?');
    expect(text()).toContain('change a.txt (+1 -1)');
    expect(text()).toContain('remove c.txt (+0 -1)');
    expect(text()).toContain('b.txt: changed by somebody else since');
    type('1');
    await shows('Restored: 2 files.');
    expect(['a.txt', 'b.txt'].map((name) => readFileSync(join(cwd, name), 'utf8'))).toEqual(['one\n', 'by a person\n']);
    // The prompt is there again, to be changed.
    await expect.poll(visible).toContain('❯ change the files█');
    type('\u0003');
    await shows('Press Ctrl+C again');
    type('/rewind redo\r');
    await shows('The conversation is as it was before you went back.');
    await expect.poll(() => readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('two\n');
    type('/quit\r');
    expect(await exited()).toBe(0);
  },
  90_000,
);

test('/undo after a rewind takes back the last change that is still there', async () => {
  const cwd = tempDirectory({ 'a.txt': 'one\n' });
  const write = (name: string, content: string) => ({
    name: 'write_file',
    args: { file_path: join(cwd, name), content },
  });
  const edit = (before: string, after: string) => ({
    name: 'edit',
    args: { file_path: join(cwd, 'a.txt'), old_string: before, new_string: after },
  });
  const server = await modelServer([
    { calls: [edit('one', 'two')] },
    { text: 'The first is done.' },
    { calls: [edit('two', 'three'), write('b.txt', 'new\n')] },
    { calls: [write('b.txt', 'newer\n')] },
    { text: 'The second is done.' },
  ]);
  const env = { HOME: tempDirectory(), ...modelVariables('openai', server.url) };
  const { type, shows, exited } = terminal(['--yolo', 'first'], { cwd, env });
  await shows('The first is done.');
  type('second\r');
  await shows('The second is done.');
  type('/rewind 2 files\r');
  await shows('Restored: 2 files.');
  const list = await runProgram(['undo', '--list'], { cwd, home: env.HOME });
  expect(list.stdout.trim().split('\n')).toEqual([expect.stringMatching(/edit {2}a\.txt$/)]);
  type('/undo\r');
  await shows('a.txt: restored');
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
  type('/undo\r');
  await shows('Nothing to undo here.');
  type('/quit\r');
  expect(await exited()).toBe(0);
}, 90_000);
