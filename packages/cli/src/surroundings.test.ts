import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, runProgram } from '../../../testing/lathe-program.js';
import { hasProgram } from '../../../testing/programs.js';
import { tempDirectory } from '../../../testing/temp-directory.js';

beforeAll(buildProgram, 300_000);

const program = join(import.meta.dirname, '..', 'dist', 'main.cjs');
const call = (name: string, args: object) => ['call', name, JSON.stringify(args), '--yolo'];

test('RA11 a deleted current directory is reported in one sentence', () => {
  const cwd = tempDirectory({ 'gone/x': '' });
  const command = `cd gone && rm x && rmdir ../gone && exec '${process.execPath}' '${program}' tools`;
  const { status, stderr } = spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8' });
  expect(stderr).toContain('the current directory no longer exists');
  expect(status).toBe(2);
});

test.each([
  ['no HOME', () => ({ HOME: '' })],
  ['a HOME that does not exist yet', () => ({ HOME: join(tempDirectory(), 'not', 'yet') })],
  ['no directory for temporary files', () => ({ TMPDIR: '/nonexistent/tmp' })],
])('RA11 %s: files are written, commands run, and no files are left in the project', async (_title, variables) => {
  const [cwd, env] = [tempDirectory(), variables()];
  const state = { LATHE_HOME: tempDirectory() };
  const write = call('write_file', { file_path: join(cwd, 'made'), content: 'x' });
  expect(await runProgram(write, { cwd, env: { ...state, ...env } })).toMatchObject({ code: 0 });
  const run = await runProgram(call('run_shell_command', { command: 'seq 100000' }), {
    cwd,
    env: { ...state, ...env },
  });
  expect([run.code, run.stdout.includes('99999')]).toEqual([0, true]);
  expect((await runProgram(['tools'], { cwd, env })).code).toBe(0);
  expect(readdirSync(cwd)).toEqual(['made']);
});

test.skipIf(!hasProgram('bwrap'))('RA11 with a read-only HOME reading works, and a change says what to do', () => {
  const [cwd, home] = [tempDirectory({ f: 'hello\n' }), tempDirectory()];
  const inside = (args: string[]) =>
    spawnSync(
      'bwrap',
      ['--bind', '/', '/', '--dev-bind', '/dev', '/dev', '--ro-bind', home, home, process.execPath, program, ...args],
      { cwd, env: { PATH: process.env['PATH'] ?? '', HOME: home }, encoding: 'utf8' },
    );
  const read = inside(call('read_file', { absolute_path: join(cwd, 'f') }));
  expect([read.status, read.stdout]).toEqual([0, 'hello\n']);
  for (const args of [
    call('write_file', { file_path: join(cwd, 'made'), content: 'x' }),
    call('run_shell_command', { command: 'touch made' }),
  ]) {
    const { status, stderr } = inside(args);
    expect(stderr).toContain('Set LATHE_HOME to a writable directory');
    expect(status).toBe(1);
  }
  expect(existsSync(join(cwd, 'made'))).toBe(false);
});

test('an audit log that cannot be written is reported on stderr', async () => {
  const [cwd, home] = [tempDirectory({ 'a.md': '' }), tempDirectory({ '.lathe/audit': 'not a directory' })];
  expect(await runProgram(['call', 'glob', '{"pattern": "*.md"}'], { cwd, home })).toEqual({
    code: 0,
    stdout: expect.stringContaining('a.md'),
    stderr: expect.stringMatching(/^lathe: The audit log cannot be written: .*\n$/),
  });
});

test('RA12 a large file is searched and edited with little memory', async () => {
  const line = 'some text that fills a line of a large file\n';
  const before = `${line.repeat(400_000)}needle\n`;
  const cwd = tempDirectory({ 'large.txt': before });
  const path = join(cwd, 'large.txt');
  const env = { NODE_OPTIONS: '--max-old-space-size=48' };
  const found = await runProgram(call('grep_search', { pattern: 'needle' }), { cwd, env });
  expect([found.code, found.stdout.includes('400001')]).toEqual([0, true]);
  const change = call('edit', { file_path: path, old_string: 'needle', new_string: 'thread' });
  expect((await runProgram(change, { cwd, env })).code).toBe(0);
  expect(readFileSync(path, 'utf8') === before.replace('needle', 'thread')).toBe(true);
});
