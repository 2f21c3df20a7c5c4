import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ElicitRequest } from '@modelcontextprotocol/client';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { bombs } from '../../../../../testing/json-bombs.js';
import { buildProgram } from '../../../../../testing/lathe-program.js';
import { eras, program, serveOverStdio } from '../../../../../testing/mcp-client.js';
import { processesWith, uniqueSleep } from '../../../../../testing/processes.js';
import { canSeeProcesses } from '../../../../../testing/running.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';

beforeAll(buildProgram, 120_000);

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const accept = { action: 'accept', content: {} } as const;

test('a client lists the built-in tools with their hints, and reads text and images', async () => {
  const cwd = tempDirectory({ 'a.txt': 'hello\n', 'dot.png': Buffer.from(pixel, 'base64') });
  const client = await serveOverStdio(cwd);
  const { tools } = await client.listTools();
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
  expect(hints).toMatchObject({
    read_file: { readOnlyHint: true, openWorldHint: false },
    web_fetch: { readOnlyHint: true, openWorldHint: true },
    write_file: { readOnlyHint: false, destructiveHint: true },
    todo_write: { readOnlyHint: false, destructiveHint: false },
    run_shell_command: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  });
  expect(Object.keys(hints)).not.toContain('exit_plan_mode');
  const text = await client.callTool({ name: 'read_file', arguments: { absolute_path: join(cwd, 'a.txt') } });
  expect(text.content).toEqual([{ type: 'text', text: expect.stringContaining('hello') }]);
  const image = await client.callTool({ name: 'read_file', arguments: { absolute_path: join(cwd, 'dot.png') } });
  expect(image.content).toContainEqual({ type: 'image', mimeType: 'image/png', data: pixel });
});

test.each(eras)(
  'in era %j a change is shown in full, applied once when accepted and not when declined',
  async (era) => {
    const cwd = tempDirectory();
    const questions: string[] = [];
    const answer = ({ message }: ElicitRequest['params']) => {
      questions.push(message);
      return message.includes('+one\n+two') ? accept : { action: 'decline' as const };
    };
    const client = await serveOverStdio(cwd, { era, answer });
    const file_path = join(cwd, 'new.txt');
    const accepted = await client.callTool({ name: 'write_file', arguments: { file_path, content: 'one\ntwo\n' } });
    expect(accepted.isError).toBeUndefined();
    expect(readFileSync(file_path, 'utf8')).toBe('one\ntwo\n');
    const declined = await client.callTool({ name: 'run_shell_command', arguments: { command: 'touch made' } });
    expect(declined).toMatchObject({ isError: true, _meta: { 'lathe/error': { type: 'execution_denied' } } });
    expect(existsSync(join(cwd, 'made'))).toBe(false);
    expect(questions).toEqual([expect.stringContaining('new.txt'), expect.stringContaining('$ touch made')]);
  },
);

test.each(eras)('in era %j a client that cannot ask gets the reason of the denial', async (era) => {
  const cwd = tempDirectory();
  const client = await serveOverStdio(cwd, { era });
  const result = await client.callTool({ name: 'run_shell_command', arguments: { command: 'touch made' } });
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('approval') }] });
  expect(existsSync(join(cwd, 'made'))).toBe(false);
});

test('"do not ask again" applies to the session and to the named rules', async () => {
  let asked = 0;
  const answer = () => {
    asked++;
    return { action: 'accept' as const, content: { remember: true } };
  };
  const client = await serveOverStdio(tempDirectory(), { answer });
  for (const command of ['touch a', 'touch a'])
    await client.callTool({ name: 'run_shell_command', arguments: { command } });
  expect(asked).toBe(1);
  await client.callTool({ name: 'run_shell_command', arguments: { command: 'mkdir b' } });
  expect(asked).toBe(2);
});

test('a denied call is never put to a person', async () => {
  const settings = JSON.stringify({ permissions: { deny: ['run_shell_command(touch *)'] } });
  const cwd = tempDirectory({ '.lathe/settings.json': settings });
  let asked = 0;
  const answer = () => {
    asked++;
    return accept;
  };
  const client = await serveOverStdio(cwd, { answer });
  const result = await client.callTool({ name: 'run_shell_command', arguments: { command: 'touch made' } });
  expect(result).toMatchObject({ isError: true, _meta: { 'lathe/error': { type: 'execution_denied' } } });
  expect([asked, existsSync(join(cwd, 'made'))]).toEqual([0, false]);
});

test('an unknown tool is a protocol error, wrong parameters are an error of the call', async () => {
  const client = await serveOverStdio(tempDirectory());
  await expect(client.callTool({ name: 'exit_plan_mode', arguments: {} })).rejects.toThrow(/There is no tool/);
  const result = await client.callTool({ name: 'read_file', arguments: { absolute_path: 7 } });
  expect(result).toMatchObject({ isError: true, _meta: { 'lathe/error': { type: 'invalid_tool_params' } } });
});

test.skipIf(!canSeeProcesses)('output arrives while a command runs, and cancelling ends the command', async () => {
  const client = await serveOverStdio(tempDirectory(), { flags: ['--yolo'] });
  const sleep = uniqueSleep();
  const controller = new AbortController();
  const messages: (string | undefined)[] = [];
  const running = client.callTool(
    { name: 'run_shell_command', arguments: { command: `echo started; sleep ${sleep}` } },
    {
      signal: controller.signal,
      onprogress: ({ message }) => {
        messages.push(message);
        controller.abort(new Error('enough'));
      },
    },
  );
  await expect(running).rejects.toThrow(/enough/);
  expect(messages[0]).toContain('started');
  await vi.waitFor(() => expect(processesWith(sleep)).toEqual([]), { timeout: 10_000 });
  const after = await client.callTool({ name: 'run_shell_command', arguments: { command: 'echo alive' } });
  expect(after.content).toEqual([{ type: 'text', text: expect.stringContaining('alive') }]);
});

test('fifty parallel calls each get their own result, large outputs truncated', async () => {
  const names = Array.from({ length: 50 }, (_, index) => `f${index}.txt`);
  const cwd = tempDirectory(Object.fromEntries(names.map((name) => [name, `content of ${name}\n`])));
  const client = await serveOverStdio(cwd, { flags: ['--yolo'] });
  const results = await Promise.all(
    names.map((name, index) =>
      index % 10 === 9
        ? client.callTool({ name: 'run_shell_command', arguments: { command: `cat ${name}; seq 200000` } })
        : client.callTool({ name: 'read_file', arguments: { absolute_path: join(cwd, name) } }),
    ),
  );
  const texts = results.map(({ content: [first] }) => (first?.type === 'text' ? first.text : ''));
  expect(texts.map((text, index) => text.includes(`content of ${names[index]}\n`))).toEqual(names.map(() => true));
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(40_000);
});

/** `lathe serve`, spoken to in bytes. */
function rawServer(flags: readonly string[] = []) {
  const cwd = tempDirectory();
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd };
  const server = spawn(process.execPath, [program, ...flags, 'serve'], { cwd, env });
  onTestFinished(() => void server.kill('SIGKILL'));
  server.stdin.on('error', () => undefined);
  const exited = once(server, 'exit');
  const messages: { id?: number; error?: { message: string } }[] = [];
  const send = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    server,
    exited,
    send,
    /** What was answered so far; reading begins with the first look. */
    messages: () => {
      if (server.stdout.listenerCount('data') === 0)
        createInterface(server.stdout).on('line', (line) => messages.push(JSON.parse(line)));
      return messages;
    },
    initialize: () => {
      const clientInfo = { name: 'test', version: '1' };
      send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
      send({ method: 'notifications/initialized' });
    },
  };
}

const patience = { timeout: 20_000 };

test.each([
  ...bombs,
  ['garbage', '\u0000\u0001}{', 'cannot be parsed'],
  ['another version', '{"jsonrpc":"1.0"}', 'not JSON-RPC'],
  ['a list of messages', '[{"jsonrpc":"2.0","id":5,"method":"ping"}]', 'not JSON-RPC'],
])('a line with %s is answered with an error, and the next message as usual', async (_what, line, problem) => {
  const { server, initialize, messages, send } = rawServer();
  initialize();
  server.stdin.write(`\n${line}\n \r\n`);
  send({ id: 2, method: 'ping' });
  await vi.waitFor(() => expect(messages()).toHaveLength(3), patience);
  expect(messages()).toContainEqual({
    jsonrpc: '2.0',
    error: { code: expect.any(Number), message: expect.stringContaining(problem) },
  });
  expect(messages().map(({ id }) => id)).toContain(2);
});

test('a client that sends an endless line is disconnected', async () => {
  const { server, initialize, exited } = rawServer();
  initialize();
  let told = '';
  server.stderr.on('data', (data) => (told += data));
  server.stdout.resume();
  const flood = Readable.from(
    (function* () {
      yield '{"jsonrpc":"2.0","id":"';
      for (;;) yield 'x'.repeat(65_536);
    })(),
  );
  flood.pipe(server.stdin);
  expect(await exited).toEqual([0, null]);
  flood.destroy();
  expect(told).toContain('more than 16777216 bytes');
});

test('a client that sends requests forever and does not read is disconnected', async () => {
  const { server, initialize, exited } = rawServer();
  initialize();
  const list = `${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })}\n`.repeat(100);
  const flood = Readable.from(
    (function* () {
      for (;;) yield list;
    })(),
  );
  flood.pipe(server.stdin);
  expect(await exited).toEqual([0, null]);
  flood.destroy();
});

test('ten thousand parallel requests are each answered, also with equal ids, and unknown ids can be cancelled', async () => {
  const { initialize, messages, send } = rawServer();
  initialize();
  const count = 10_000;
  const read = { name: 'read_file', arguments: { absolute_path: '/dev/null/nothing' } };
  for (let id = 2; id < count; id++) {
    if (id % 10 === 0) send({ method: 'notifications/cancelled', params: { requestId: 1_000_000 + id } });
    if (id % 100 === 0) send({ id: 2, method: 'tools/call', params: read });
    else send(id % 10 === 3 ? { id, method: 'tools/call', params: read } : { id, method: 'ping' });
  }
  await vi.waitFor(() => expect(messages()).toHaveLength(count - 1), { timeout: 60_000 });
  expect(messages().filter(({ id }) => id === 2)).toHaveLength(count / 100);
}, 70_000);

test.skipIf(!canSeeProcesses).each(['sleep', 'while :; do echo noise; sleep 0.01; done; sleep'])(
  'a client that is killed while "%s" runs leaves no process behind',
  async (command) => {
    const mark = uniqueSleep();
    const { server, initialize, send, exited } = rawServer(['--yolo']);
    initialize();
    const call = { name: 'run_shell_command', arguments: { command: `${command} ${mark}` } };
    send({ id: 2, method: 'tools/call', params: { ...call, _meta: { progressToken: 1 } } });
    await vi.waitFor(() => expect(processesWith(mark)).not.toEqual([]), patience);
    for (const pipe of [server.stdin, server.stdout, server.stderr]) pipe.destroy();
    await exited;
    await vi.waitFor(() => expect(processesWith(mark)).toEqual([]), patience);
  },
);
