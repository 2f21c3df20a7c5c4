import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { modelServer } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

const program = join(import.meta.dirname, '..', '..', 'dist', 'main.js');

beforeAll(() => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../../../../scripts/setup.mjs')], { stdio: 'ignore' });
}, 300_000);

/** The real program in a real pseudo-terminal, with a terminal emulator that keeps its screen. */
function terminal(args: string[], options: { cwd: string; env?: Record<string, string>; columns?: number }) {
  const columns = options.columns ?? 100;
  const screen = new xterm.Terminal({ cols: columns, rows: 40, allowProposedApi: true, scrollback: 5000 });
  const child = spawn(process.execPath, [program, ...args], {
    cols: columns,
    rows: 40,
    cwd: options.cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: tempDirectory(),
      TERM: 'xterm-256color',
      NO_COLOR: '1',
      ...options.env,
    },
  });
  let raw = '';
  let exitCode: number | undefined;
  child.onData((data) => {
    raw += data;
    screen.write(data);
  });
  child.onExit((exit) => {
    exitCode = exit.exitCode;
  });
  onTestFinished(() => {
    if (exitCode === undefined) child.kill('SIGKILL');
  });
  const text = () => {
    const { buffer } = screen;
    return Array.from(
      { length: buffer.active.length },
      (_, row) => buffer.active.getLine(row)?.translateToString(true) ?? '',
    ).join('\n');
  };
  const until = async (condition: () => boolean) => {
    await expect.poll(condition, { timeout: 25_000, interval: 30 }).toBe(true);
  };
  return {
    type: (keys: string) => child.write(keys),
    resize: (to: number) => {
      child.resize(to, 40);
      screen.resize(to, 40);
    },
    text,
    raw: () => raw,
    shows: async (wanted: string) => {
      await expect.poll(text, { timeout: 25_000, interval: 30 }).toContain(wanted);
    },
    exited: async () => {
      await until(() => exitCode !== undefined);
      return exitCode;
    },
    pid: child.pid,
  };
}

/** Every mode that was switched on has been switched off again. */
function isRestored(raw: string): boolean {
  const isOff = (mode: string) => raw.lastIndexOf(`\u001b[?${mode}l`) >= raw.lastIndexOf(`\u001b[?${mode}h`);
  return isOff('2004') && raw.lastIndexOf('\u001b[?25h') >= raw.lastIndexOf('\u001b[?25l');
}

/** Shown when the prompt takes keys. */
const idle = 'Ask for anything.';
/** Longer than a question is deaf to keys. */
const think = () => new Promise((resolve) => setTimeout(resolve, 400));

test('without a model the console calls tools, asks, undoes and leaves the terminal as it was', async () => {
  const cwd = tempDirectory({ 'a.txt': 'one\n' });
  const { type, shows, exited, raw } = terminal([], { cwd });
  await shows('this is the console');
  type('list_dir\t');
  await shows('list_directory ');
  type(`path=${cwd}\r`);
  await shows('a.txt (4)');
  type(`write_file file_path=${join(cwd, 'a.txt')} content=two\r`);
  await shows('Yes, once');
  await think();
  type('\r');
  await shows('did not allow');
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
  type(`edit file_path=${join(cwd, 'a.txt')} old_string=one new_string=two\r`);
  await shows('Confirm Edit');
  await think();
  type('y');
  await expect.poll(() => readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('two\n');
  // Typed while the call may still be ending: it waits its turn.
  type('/undo\r');
  await shows('a.txt: restored');
  type('\u0003');
  await shows('Ctrl+C again');
  type('\u0003');
  expect(await exited()).toBe(0);
  expect(isRestored(raw())).toBe(true);
}, 90_000);

test('a task with a model: a change is shown, changed in an editor, and told to the model', async () => {
  const cwd = tempDirectory({ 'a.js': 'let x = 1;\n' });
  const editor = join(tempDirectory(), 'editor.sh');
  writeFileSync(editor, '#!/bin/sh\nprintf "const x = 2;\\n" > "$1"\n');
  chmodSync(editor, 0o755);
  const edit = { name: 'edit', args: { file_path: join(cwd, 'a.js'), old_string: 'let', new_string: 'const' } };
  const server = await modelServer([{ text: 'I change it.', calls: [edit] }, { text: 'All **done**.' }]);
  const env = {
    OPENAI_BASE_URL: `${server.url}/v1`,
    OPENAI_API_KEY: 'key-for-tests',
    OPENAI_MODEL: 'stub',
    VISUAL: editor,
  };
  const { type, shows, exited, text } = terminal(['use const'], { cwd, env });
  await shows('Confirm Edit');
  await think();
  type('e');
  await shows('+const x = 2;');
  await think();
  type('y');
  await shows('All done.');
  expect(readFileSync(join(cwd, 'a.js'), 'utf8')).toBe('const x = 2;\n');
  expect(text()).toContain('✓ edit');
  await shows(idle);
  type('/quit\r');
  expect(await exited()).toBe(0);
}, 90_000);

test('a paste of ten thousand lines in twenty columns is kept, and the program goes on', async () => {
  const { type, shows, resize, exited, text } = terminal([], { cwd: tempDirectory({}) });
  await shows('this is the console');
  resize(20);
  type(`\u001b[200~${'line\n'.repeat(10_000)}\u001b[201~`);
  await shows('(10001 lines)');
  resize(100);
  type('\u0003');
  await shows('Ctrl+C again');
  type('\u0003');
  expect(await exited()).toBe(0);
  expect(text()).not.toContain('RangeError');
}, 90_000);

test('neither what was typed before a question nor a paste answers it', async () => {
  const cwd = tempDirectory({});
  const { type, shows, exited } = terminal([], { cwd });
  await shows('this is the console');
  type(`write_file file_path=${join(cwd, 'x.txt')} content=new\ryyy`);
  await shows('Yes, once');
  await think();
  type('\u001b[200~y\u001b[201~');
  // Keys are taken in order: were the paste an answer, this one would come too late.
  type('n');
  await shows('did not allow');
  expect(existsSync(join(cwd, 'x.txt'))).toBe(false);
  type('\u0003');
  await shows('Ctrl+C again');
  type('\u0003');
  expect(await exited()).toBe(0);
}, 90_000);

test('a conversation that was left is gone on with, and a subagent’s question reaches the person', async () => {
  const cwd = tempDirectory({});
  const home = tempDirectory();
  const write = { name: 'write_file', args: { file_path: join(cwd, 'x.txt'), content: 'new' } };
  const task = {
    name: 'task',
    args: { description: 'write it', prompt: 'write x.txt', subagent_type: 'general-purpose' },
  };
  const server = await modelServer([
    { text: 'Hello **Ada**.' },
    { calls: [task] },
    { calls: [write] },
    { text: 'I wrote it.' },
    { text: 'It is **written**, Ada.' },
  ]);
  const env = {
    HOME: home,
    OPENAI_BASE_URL: `${server.url}/v1`,
    OPENAI_API_KEY: 'key-for-tests',
    OPENAI_MODEL: 'stub',
  };
  const first = terminal(['my name is Ada'], { cwd, env });
  await first.shows('Hello Ada.');
  await first.shows(idle);
  first.type('/quit\r');
  expect(await first.exited()).toBe(0);

  const second = terminal(['--continue'], { cwd, env });
  await second.shows('Going on after 2 messages');
  await second.shows('Hello **Ada**.');
  await second.shows(idle);
  second.type('have x.txt written\r');
  await second.shows('The subagent general-purpose asks.');
  expect(JSON.stringify(server.requests[1]?.body)).toContain('my name is Ada');
  await think();
  second.type('y');
  await second.shows('It is written, Ada.');
  expect(readFileSync(join(cwd, 'x.txt'), 'utf8')).toBe('new');
  await second.shows(idle);
  second.type('/quit\r');
  expect(await second.exited()).toBe(0);
}, 90_000);
