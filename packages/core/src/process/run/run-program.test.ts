import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import { isAlive } from './process-tree.js';
import { CommandRunner } from './run-command.js';
import { runProgram } from './run-program.js';

const limits = { timeoutMs: 20_000, maxBytes: 1_000_000, signal: new AbortController().signal };
const env = { PATH: process.env['PATH'] ?? '' };

function run(argv: string[], options: Partial<typeof limits> = {}, input = '') {
  const runner = new CommandRunner(new LatheHome(tempDirectory()));
  return runProgram(runner, { argv, cwd: tempDirectory(), env, input }, { ...limits, ...options });
}

test('arguments reach the program as they are', async () => {
  const args = ['$(id)', '; echo x', "it's", '"', '*', '-n', '', 'a\nb', '--'];
  const { stdout } = await run([process.execPath, '-p', 'JSON.stringify(process.argv.slice(1))', '--', ...args]);
  expect(JSON.parse(stdout)).toEqual(args);
});

test('stdin is written and closed, stdout and stderr stay separate', async () => {
  const result = await run(['sh', '-c', 'cat; echo error >&2; exit 3'], {}, 'input');
  expect(result).toEqual({ ending: { type: 'exit', code: 3 }, stdout: 'input', stderr: 'error\n' });
});

test('a process that left its session ends with the timeout', async () => {
  const script = 'setsid sh -c "trap \\"\\" TERM; echo \\$\\$; sleep 1000" & sleep 1000';
  const { ending, stdout } = await run(['sh', '-c', script], { timeoutMs: 1_000 });
  expect(ending).toEqual({ type: 'timeout', ms: 1_000 });
  expect(isAlive(Number(stdout))).toBe(false);
});

test('only the three streams are open in the program', async () => {
  const { stdout } = await run(['sh', '-c', 'ls /proc/self/fd | tr "\\n" " "']);
  // ls itself has the directory open as 3.
  expect(stdout.trim()).toBe('0 1 2 3');
});

test.each([
  [['no-such-program'], 'is not on PATH'],
  [['/no/such/program'], 'is not an executable file'],
  [['/etc/passwd'], 'is not an executable file'],
])('%j cannot be started, and the error says why', async (argv, reason) => {
  await expect(run(argv)).rejects.toThrow(reason);
});
