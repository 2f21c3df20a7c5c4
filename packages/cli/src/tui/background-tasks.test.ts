import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables, runProgram } from '../../../../testing/lathe-program.js';
import { modelServer, type ServerRequest, type ServerTurn } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { terminal, think } from '../../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

function repository(): string {
  const root = tempDirectory({ 'a.txt': 'one\n' });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'first');
  return root;
}

const task = (prompt: string) => ({
  name: 'task',
  args: { description: 'a long look', prompt, subagent_type: 'general-purpose', background: true },
});
const shell = (command: string) => ({ name: 'run_shell_command', args: { command } });

/** The main agent hands out two tasks; one waits until a file appears, the other never ends. */
function cast(release: string): (request: ServerRequest) => ServerTurn {
  return ({ body }) => {
    const text = JSON.stringify(body['messages']);
    const hasCalled = text.includes('"role":"tool"');
    if (text.includes('Background task t1')) return { text: 'The report is here.' };
    if (text.includes('hand it out'))
      return hasCalled ? { text: 'Both are at work.' } : { calls: [task('wait for it'), task('for ever')] };
    if (text.includes('wait for it'))
      return hasCalled ? { text: 'seen it' } : { calls: [shell(`until [ -e ${release} ]; do sleep 0.1; done`)] };
    return { calls: [shell('sleep 1000')] };
  };
}

test('background tasks have rows, their report starts a turn, and quitting stops those that never end', async () => {
  const cwd = repository();
  const server = await modelServer([cast(join(cwd, 'release'))]);
  const env = modelVariables('openai', server.url);
  const { type, shows, exited, text, visible } = terminal(['--yolo', 'hand it out'], { cwd, env });
  await shows('Both are at work.');
  await expect
    .poll(visible, { timeout: 20_000 })
    .toMatch(/t1 general-purpose: a long look · running · [\d.]+k? tokens · \d+ s/);
  await expect.poll(visible, { timeout: 20_000 }).toContain('t2 general-purpose: a long look · running');
  type('/agents send t9 hello\r');
  await shows('There is no task t9, only t1, t2');
  writeFileSync(join(cwd, 'release'), '');
  await shows('The report is here.');
  await expect.poll(visible).not.toContain('t1 general-purpose: a long look · running');
  type('/agents\r');
  await shows('t1 done');
  await think();
  type('/quit\r');
  expect(await exited()).toBe(0);
  expect(text()).toContain('Stopped background tasks: t2');
}, 120_000);

const writer = ({ body }: ServerRequest): ServerTurn =>
  JSON.stringify(body['messages']).includes('"role":"tool"')
    ? { text: 'written' }
    : { calls: [shell('echo two >> a.txt && git commit -qam inside; git log --format=%s')] };

test('a session in a worktree asks at its end, and keeps, applies or discards', async () => {
  const cwd = repository();
  const home = tempDirectory();
  const server = await modelServer([writer]);
  const env = { ...modelVariables('openai', server.url), HOME: home };
  const worktrees = () => readdirSync(join(home, '.lathe', 'worktrees'));
  const snapshots = () => readdirSync(join(home, '.lathe', 'rewind'));
  const first = terminal(['--worktree', 'try', '--yolo', 'write it'], { cwd, env });
  await first.shows('written');
  await first.shows('Ask for anything.');
  first.type('/quit\r');
  await first.shows('[a]pply to');
  first.type('\r');
  await first.shows('continue with: lathe --worktree try');
  expect(await first.exited()).toBe(0);
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
  expect(worktrees()).toHaveLength(1);
  const second = terminal(['--worktree', 'try', '--yolo'], { cwd, env });
  await second.shows('Ask for anything.');
  second.type('/quit\r');
  await second.shows('changed  a.txt');
  second.type('a\r');
  await second.shows('applied to: a.txt');
  expect(await second.exited()).toBe(0);
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  expect(worktrees()).toEqual([]);
  // Those of the project itself stay.
  expect(snapshots()).toHaveLength(1);
}, 120_000);

test('without a person, changes are applied if the mode allows it, else kept', async () => {
  const cwd = repository();
  const home = tempDirectory();
  const server = await modelServer([writer]);
  const env = modelVariables('openai', server.url);
  const rule = ['--allowed-tools', 'run_shell_command'];
  const kept = await runProgram(['-p', 'write it', '--worktree', 'k', ...rule], { cwd, home, env });
  expect(kept.stderr).toContain('continue with: lathe --worktree k');
  expect(kept.code).toBe(3);
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
  const done = await runProgram(['-p', 'write it', '--worktree', '--yolo'], { cwd, home, env });
  expect(done.stderr).toContain('applied to: a.txt');
  expect(done).toMatchObject({ code: 0, stdout: 'written\n' });
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  expect(existsSync(join(home, '.lathe', 'worktrees'))).toBe(true);
  const wrong = await runProgram(['-p', 'x', '--worktree', '../up'], { cwd, home, env });
  expect(wrong).toMatchObject({ code: 2 });
}, 120_000);

test('a session that fails at its start leaves no worktree, and one with a large file keeps it', async () => {
  const cwd = repository();
  const home = tempDirectory();
  const worktrees = () => readdirSync(join(home, '.lathe', 'worktrees'));
  const large: ServerTurn = { calls: [shell('head -c 40000000 /dev/zero > large.bin')] };
  const server = await modelServer([large, { text: 'made' }]);
  const env = modelVariables('openai', server.url);
  expect(await runProgram(['--worktree'], { cwd, home, env })).toMatchObject({ code: 2 });
  expect(worktrees()).toEqual([]);
  const kept = await runProgram(['-p', 'make it', '--worktree', 'big', '--yolo'], { cwd, home, env });
  expect(kept.stderr).toContain('too large or not readable: large.bin');
  expect(worktrees()).toHaveLength(1);
}, 120_000);

test('a program that sends prompts as JSON works in the worktree too', async () => {
  const cwd = repository();
  const server = await modelServer([writer]);
  const args = ['-p', '--input-format', 'stream-json', '-o', 'stream-json', '--worktree', 'k'];
  const { stderr } = await runProgram([...args, '--allowed-tools', 'run_shell_command'], {
    cwd,
    env: modelVariables('openai', server.url),
    input: '{"type":"user","message":{"role":"user","content":"write it"}}\n',
  });
  expect(stderr).toContain('continue with: lathe --worktree k');
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
}, 120_000);
