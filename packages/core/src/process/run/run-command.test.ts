import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { processesWith, uniqueSleep } from '../../../../../testing/processes.js';
import { hasProgram } from '../../../../../testing/programs.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import { reportOn } from './command-report.js';
import { childEnvironment, unattendedVariables } from './environment.js';
import { CommandRunner } from './run-command.js';
import type { CommandRequest } from './running-command.js';

const isLong = process.env['LATHE_LONG'] === '1';

function commands(options: { shell?: string } = {}) {
  const cwd = tempDirectory();
  const runner = new CommandRunner(new LatheHome(tempDirectory()), options);
  const env = childEnvironment(process.env);
  const run = (command: string, more: Partial<CommandRequest> & { timeoutMs?: number } = {}) => {
    const { timeoutMs = 20_000, ...request } = more;
    return runner.run({ command, cwd, env, ...request }, { timeoutMs, signal: new AbortController().signal });
  };
  const text = async (command: string, more: Partial<CommandRequest> = {}) =>
    (await run(command, more)).output.text().trimEnd();
  return { run, text, cwd, runner, env };
}

// RS15
test('stdout and stderr come in the order in which they were written', async () => {
  const { text } = commands();
  const lines = Array.from({ length: 50 }, (_, index) => `echo ${index} >&${1 + (index % 2)}`).join('; ');
  expect((await text(lines)).split('\n').map(Number)).toEqual(Array.from({ length: 50 }, (_, index) => index));
});

test('a program may open its streams by name', async () => {
  const { text } = commands();
  expect(await text('echo one > /dev/stdout; echo two > /dev/stderr; echo three | tee /dev/stderr')).toBe(
    'one\ntwo\nthree\nthree',
  );
});

// SB12
test('a command sees no descriptor but 0, 1 and 2', async () => {
  const { text } = commands();
  // The fourth one is the directory that ls itself has open.
  expect(await text('ls /proc/self/fd')).toBe('0\n1\n2\n3');
  expect(await text('readlink /proc/self/fd/3 || echo none')).toBe('none');
});

// SB15 RS11
test.each(['read -r line; echo "status $?"', 'cat; echo "status $?"', 'head -1; echo "status $?"'])(
  'reading stdin ends at once: %s',
  async (command) => {
    const { text } = commands();
    expect(await text(command)).toMatch(/^status [01]$/);
  },
);

// SB15 RS11
test.each([
  'ed notes',
  'python3',
  'node',
  'less notes',
  'top',
  'ssh -p 1 127.0.0.1',
  'bash',
  'sudo true',
  'sqlite3',
  'bc',
])('%s, which would ask the user, ends immediately', async (command) => {
  const { run } = commands();
  expect((await run(command)).ending.type).toBe('exit');
});

// RS11
test.skipIf(!hasProgram('vim'))('an editor that waits for keys is distinguished from other slow commands', async () => {
  const { run } = commands();
  const result = await run('vim notes', { timeoutMs: 2_000 });
  expect(result.ending.type).toBe('timeout');
  const options = { command: 'vim notes', directory: '(root)', lastWords: ['vim', 'notes'] };
  expect(reportOn(result, options).text).toContain('It seems to have asked for input');
});

// SB15 RS11
test('git fails instead of asking for a password', async () => {
  const server = createServer((_, response) => response.writeHead(401, { 'www-authenticate': 'Basic' }).end());
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = Object(server.address());
  const { run } = commands();
  const env = childEnvironment(process.env, { set: unattendedVariables });
  const result = await run(`git ls-remote http://127.0.0.1:${port}/a.git`, { env });
  expect(result.ending).toEqual({ type: 'exit', code: 128 });
  const options = { command: 'git', directory: '(root)', lastWords: ['git'] };
  expect(reportOn(result, options).text).toContain('It seems to have asked for input');
});

// SB16
test.skipIf(!hasProgram('python3'))('a command cannot type into our terminal', async () => {
  const { text } = commands();
  const script = `
import fcntl, os, termios
for fd in (0, 1, 2):
  try: fcntl.ioctl(fd, termios.TIOCSTI, b'x'); print('typed')
  except OSError as error: print(error.errno)
try: os.open('/dev/tty', os.O_RDWR); print('opened')
except OSError as error: print(error.errno)`;
  // ENOTTY for each stream, and ENXIO for a terminal that is not there.
  expect(await text(`python3 -c "${script}"`)).toBe('25\n25\n25\n6');
});

// SB16
test('a command has no terminal', async () => {
  const { text } = commands();
  expect(await text('(echo x > /dev/tty) 2>&1 || echo refused')).toMatch(/refused$/);
  expect(await text('tty; ps -o tty= -p $$ | tr -d " "; [ "$(ps -o sid= -p $$)" -eq $$ ] && echo own session')).toBe(
    'not a tty\n?\nown session',
  );
});

test.skipIf(!hasProgram('script'))(
  'a program that insists on a terminal gets one of its own when asked for',
  async () => {
    const { run } = commands();
    const { output, ending } = await run('[ -t 0 ] && [ -t 1 ] && tty && stty size; echo "it\'s"; exit 3', {
      hasTerminal: true,
    });
    expect(output.text()).toMatch(/^\/dev\/pts\/\d+\n40 120\nit's\n$/);
    expect(ending).toEqual({ type: 'exit', code: 3 });
    const sleep = uniqueSleep();
    await run(`setsid sleep ${sleep} & sleep ${sleep}`, { hasTerminal: true, timeoutMs: 200 });
    expect(processesWith(sleep)).toEqual([]);
  },
);

// SA07
test("no startup file of any shell is read, whatever the user's login shell is", async () => {
  const home = tempDirectory({
    '.bashrc': 'echo startup',
    '.bash_profile': 'echo startup',
    '.profile': 'echo startup',
    '.zshenv': 'echo startup',
    'env.sh': 'echo startup',
  });
  const { text } = commands();
  const source = {
    PATH: '/usr/bin:/bin',
    HOME: home,
    SHELL: '/usr/bin/fish',
    BASH_ENV: join(home, 'env.sh'),
    ENV: join(home, 'env.sh'),
  };
  expect(
    await text('echo "$BASH_VERSION" | cut -c1; echo "${BASH_ENV-unset} ${ENV-unset}"', {
      env: childEnvironment(source),
    }),
  ).toBe('5\nunset unset');
});

test('line numbers and quoted lines in error messages are those of the command', async () => {
  const { text } = commands();
  expect(await text('if; then')).toBe(
    "/bin/bash: -c: line 1: syntax error near unexpected token `;'\n/bin/bash: -c: line 1: `if; then'",
  );
  expect(await text('true\nno-such-program')).toBe('/bin/bash: line 2: no-such-program: command not found');
});

// RS06
test.each([
  ['exit 0', { type: 'exit', code: 0 }],
  ['exit 126', { type: 'exit', code: 126 }],
  ['exit 200', { type: 'exit', code: 200 }],
  ['kill -KILL $$', { type: 'signal', signal: 'SIGKILL' }],
  ['kill -TERM $$', { type: 'signal', signal: 'SIGTERM' }],
  ['bash -c "kill -SEGV \\$\\$"; exit', { type: 'exit', code: 139 }],
])('%s ends as %o', async (command, ending) => {
  const { run } = commands();
  expect((await run(command)).ending).toEqual(ending);
});

// RS01 RS08 SB14
test.each([
  ['a command that keeps every core busy', 'for i in 1 2 3 4; do while :; do :; done & done; wait'],
  ['a command that prints without end', 'yes'],
  ['a command that forks without end', 'while :; do (sleep 30 &); done'],
  ['a daemon', 'setsid sh -c "(sleep 30 &) ; sleep 30" & sleep 30'],
  ['a stopped command', 'kill -STOP $$'],
  ['a command that closed its output', 'exec >&- 2>&-; sleep 30'],
  ['a command that ignores every polite signal', 'trap "" TERM INT HUP; while :; do sleep 30; done'],
])('the timeout applies to %s', async (_, command) => {
  const { run } = commands();
  const { ending, survivors } = await run(command, { timeoutMs: 200 });
  expect(ending).toEqual({ type: 'timeout', ms: 200 });
  expect(survivors).toEqual([]);
});

// RS03
test('a background child that keeps the output open does not delay the result', async () => {
  const { run } = commands();
  const sleep = uniqueSleep();
  const { output, leftBehind, ending } = await run(`sleep ${sleep} & echo done`);
  expect(output.text()).toBe('done\n');
  expect(ending).toEqual({ type: 'exit', code: 0 });
  expect(leftBehind).toHaveLength(1);
  expect(processesWith(sleep)).toEqual([]);
});

// RS15
test('output of a child right after the main process exits is not lost', async () => {
  const { text } = commands();
  expect(await text('(sleep 0.05; echo late) & echo early')).toBe('early\nlate');
  expect(await text('echo through > >(sleep 0.05; cat)')).toBe('through');
});

// RS07
test('a missing directory, a missing shell and too long arguments give typed errors', async () => {
  const { run, cwd } = commands();
  const gone = join(cwd, 'gone');
  mkdirSync(gone);
  rmSync(gone, { recursive: true });
  await expect(run('true', { cwd: gone })).rejects.toMatchObject({
    type: 'shell_execute_error',
    message: expect.stringContaining(`${gone} does not exist`),
  });
  await expect(run(`: ${'x'.repeat(3_000_000)}`)).rejects.toMatchObject({ type: 'shell_execute_error' });
  await expect(commands({ shell: '/no/such/shell' }).run('true')).rejects.toMatchObject({
    type: 'shell_execute_error',
  });
});

test('an unwritable home gives a typed error that says what to do', async () => {
  const runner = new CommandRunner(new LatheHome(join(tempDirectory({ file: '' }), 'file', 'home')));
  const request = { command: 'true', cwd: '/', env: {} };
  await expect(runner.run(request, { timeoutMs: 1_000, signal: new AbortController().signal })).rejects.toMatchObject({
    type: 'shell_execute_error',
    message: expect.stringContaining('LATHE_HOME'),
  });
});

// RS13
test('nothing persists from one command to the next', async () => {
  const { text, cwd } = commands();
  await text('cd /; export MADE_UP=1; alias ls=false');
  expect(await text('pwd; echo "${MADE_UP-unset}"')).toBe(`${cwd}\nunset`);
});

// RS04 SB14
test('endless output is bounded in memory and on disk', async () => {
  const { run } = commands();
  const { output } = await run('head -c 80000000 /dev/zero | tr "\\0" x');
  expect(output.totalBytes).toBe(80_000_000);
  expect(statSync(output.path ?? '').size).toBe(64 * 1024 * 1024);
  expect(output.isComplete).toBe(false);
  expect(output.text().length).toBeLessThan(30_000);
});

// RS12
test('many commands, in parallel and in sequence, leave no descriptor and no process', async () => {
  const { run, text } = commands();
  await Promise.all(Array.from({ length: 8 }, () => run('true')));
  const before = readdirSync('/proc/self/fd').length;
  const answers = await Promise.all(Array.from({ length: 64 }, (_, index) => text(`echo ${index}`)));
  expect(answers).toEqual(Array.from({ length: 64 }, (_, index) => `${index}`));
  for (let i = 0; i < (isLong ? 1_000 : 40); i++) await run('sleep 0 & true');
  await expect.poll(() => readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before + 2);
});

test('on a system without bash, sh runs commands', async () => {
  const { run, text } = commands({ shell: '/bin/sh' });
  expect(await text('echo "${BASH_VERSION-none}"; echo error >&2')).toBe('none\nerror');
  const sleep = uniqueSleep();
  await run(`setsid sleep ${sleep} & sleep ${sleep}`, { timeoutMs: 200 });
  expect(processesWith(sleep)).toEqual([]);
});

// SB18
test('a canary in the command line stays text', async () => {
  const { text, cwd } = commands();
  await text('echo "$(printf %s "; touch canary")"');
  expect(existsSync(join(cwd, 'canary'))).toBe(false);
});

// RS16
test.each([86_400_000, -86_400_000])(
  'a clock that jumps by %i ms ends no command early and none late',
  async (jump) => {
    const { run } = commands();
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const patient = run('sleep 0.3; echo done');
    const hasty = run('sleep 30', { timeoutMs: 300 });
    vi.setSystemTime(Date.now() + jump);
    expect((await patient).ending).toEqual({ type: 'exit', code: 0 });
    expect((await hasty).ending).toEqual({ type: 'timeout', ms: 300 });
  },
);
