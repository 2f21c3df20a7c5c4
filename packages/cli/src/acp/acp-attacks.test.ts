import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { methods } from '@agentclientprotocol/sdk';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { editor, mismatches } from '../../../../testing/acp-editor.js';
import { buildProgram, modelVariables } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

vi.setConfig({ testTimeout: 120_000 });
beforeAll(buildProgram, 300_000);

const { session } = methods.agent;
const program = join(import.meta.dirname, '../../dist/main.cjs');

/** The program without a client library, for lines that none would send. */
function raw(env: Record<string, string> = {}) {
  const home = tempDirectory();
  const child = spawn(process.execPath, [program, 'acp'], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (data) => (output += String(data)));
  const send = (message: unknown) => void child.stdin.write(`${JSON.stringify(message)}\n`);
  const prints = async (text: string) => {
    await expect.poll(() => output, { timeout: 20_000 }).toContain(text);
  };
  const start = async (cwd = tempDirectory()) => {
    send(initialize);
    await prints('"id":1');
    send(request(2, 'session/new', { cwd, mcpServers: [] }));
    await prints('"sessionId"');
    const sessionId = /"sessionId":"([^"]+)"/.exec(output)?.[1];
    send(request(3, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] }));
  };
  return { child, send, prints, start, lines: () => output.trim().split('\n') };
}

const request = (id: number, method: string, params: unknown) => ({ jsonrpc: '2.0', id, method, params });
const initialize = request(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} });

test('the check of conformance finds what is wrong', () => {
  const wrong: [method: string, answer: object][] = [
    ['session/new', { result: {} }],
    ['session/prompt', { result: { stopReason: 'tired' } }],
    ['session/set_config_option', { result: {} }],
    ['session/close', { error: { message: 'without a code' } }],
    ['no/such', { result: {} }],
  ];
  const asked = wrong.map(([method], id) => JSON.stringify(request(id, method, {})));
  const answers = wrong.map(([, answer], id) => ({ jsonrpc: '2.0', id, ...answer }));
  const messages = [
    ...answers,
    { jsonrpc: '2.0', id: 99, result: {} },
    { method: 'session/update', params: {} },
    { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'unknown' } } },
  ];
  const found = mismatches(
    messages.map((message) => JSON.stringify(message)),
    asked,
  );
  expect(found).toHaveLength(messages.length);
});

test('lines that are not messages, or come too early, are answered with an error; the next one is served', async () => {
  const { child, send, prints, lines } = raw();
  send(request(7, 'session/new', { cwd: '/', mcpServers: [] }));
  for (const line of ['{', '[]', '"x"', 'null', '\u0000', `{"jsonrpc":"2.0","id":8,"method":"no/such"}`])
    child.stdin.write(`${line}\n`);
  send({ jsonrpc: '2.0', id: 99, result: 'an answer to no question' });
  send(initialize);
  await prints('"id":1,');
  send(request(2, 'session/new', { cwd: 5 }));
  send(request(3, 'session/prompt', { sessionId: {}, prompt: 'x' }));
  send(request(4, 'no/such', {}));
  send({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 'unknown' } });
  send(request(5, 'session/list', {}));
  await prints('"id":5');
  const answers = lines().map((line) => JSON.parse(line) as { id: number; error?: { code: number } });
  const codes = Object.fromEntries(answers.map(({ id, error }) => [id, error?.code]));
  expect(codes).toMatchObject({ 1: undefined, 2: -32602, 3: -32602, 4: -32601, 5: undefined });
  expect(codes[7]).toBeLessThan(0);
  child.stdin.end();
  expect(await once(child, 'close')).toEqual([0, null]);
});

test('ids of sessions that are none, and directories that are none, are refused', async () => {
  const at = await editor();
  const cwd = at.cwd;
  mkdirSync(join(at.home, '.lathe/sessions/x'), { recursive: true });
  const secret = join(at.home, '.lathe/secret.jsonl');
  writeFileSync(secret, 'keep');
  for (const sessionId of ['', 'nope', '../../secret', '../secret', '0000', 'a'.repeat(10_000)]) {
    const params = { sessionId, cwd, mcpServers: [] };
    await expect(at.agent.request(session.load, params)).rejects.toThrow(/not found/i);
    await expect(at.agent.request(session.resume, params)).rejects.toThrow(/not found/i);
    await expect(at.prompt(sessionId, 'x')).rejects.toThrow(/not found/i);
    await expect(at.agent.request(session.setMode, { sessionId, modeId: 'yolo' })).rejects.toThrow(/not found/i);
    await at.agent.request(session.delete, { sessionId });
    await at.cancel(sessionId);
  }
  expect(readFileSync(secret, 'utf8')).toBe('keep');
  writeFileSync(join(cwd, 'file'), '');
  for (const wrong of ['relative', join(cwd, 'missing'), join(cwd, 'file'), ''])
    await expect(at.agent.request(session.new, { cwd: wrong, mcpServers: [] })).rejects.toThrow(/absolute path/);
  await expect(at.prompt((await at.open()).sessionId, '  ')).rejects.toThrow(/empty/);
  at.assertConformance();
});

test('two sessions work at once, each in its directory; a second prompt in one of them is refused', async () => {
  const write = (file_path: string) => ({ name: 'write_file', args: { file_path, content: 'x' } });
  const [one, two] = [tempDirectory(), tempDirectory()];
  let release: (answer: string) => void = () => {};
  const held = new Promise<string>((resolve) => {
    release = resolve;
  });
  const at = await editor({
    answer: ({ sessionId }) => (sessionId === first.sessionId ? held : 'Yes, once'),
    script: [
      ({ body }) => ({ calls: [write(join(JSON.stringify(body).includes(two) ? two : one, 'made.txt'))] }),
      ({ body }) => ({ calls: [write(join(JSON.stringify(body).includes(two) ? two : one, 'made.txt'))] }),
      { text: 'Done.' },
    ],
  });
  const start = (cwd: string) => at.agent.request(session.new, { cwd, mcpServers: [] });
  const first = await start(one);
  const second = await start(two);
  const waiting = at.prompt(first.sessionId, 'write');
  await expect.poll(() => at.questions.length).toBe(1);
  await expect(at.prompt(first.sessionId, 'again')).rejects.toThrow(/still works on another prompt/);
  expect(await at.prompt(second.sessionId, 'write')).toEqual({ stopReason: 'end_turn' });
  expect([existsSync(join(one, 'made.txt')), existsSync(join(two, 'made.txt'))]).toEqual([false, true]);
  release('Yes, once');
  expect(await waiting).toEqual({ stopReason: 'end_turn' });
  expect(existsSync(join(one, 'made.txt'))).toBe(true);
  expect(new Set(at.questions.map(({ sessionId }) => sessionId)).size).toBe(2);
  at.assertConformance();
});

test('an answer that was not offered is a no', async () => {
  const cwd = tempDirectory({ 'a.txt': 'one\n' });
  const args = { file_path: join(cwd, 'a.txt'), old_string: 'one', new_string: '1' };
  const server = await modelServer([{ calls: [{ name: 'edit', args }] }, { text: 'Done.' }]);
  const { child, send, prints, start, lines } = raw(modelVariables('openai', server.url));
  await start(cwd);
  await prints('request_permission');
  const line = lines().find((each) => each.includes('request_permission')) ?? '';
  const { id } = JSON.parse(line) as { id: number };
  send({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'allow_always' } } });
  await prints('end_turn');
  expect(readFileSync(args.file_path, 'utf8')).toBe('one\n');
  child.stdin.end();
  await once(child, 'close');
});

test.each<[unknown]>([
  [[]],
  [{}],
  [{ outcome: null }],
  [{ outcome: { outcome: 'selected', optionId: 5 } }],
  [{ outcome: { outcome: 'cancelled', optionId: 'yes' } }],
])('the answer %j to a question is a no', async (answer) => {
  const calls = [{ name: 'run_shell_command', args: { command: 'touch made' } }];
  const at = await editor({ answer: () => answer, script: [{ calls }, { text: 'Done.' }] });
  expect(await at.prompt((await at.open()).sessionId, 'go')).toEqual({ stopReason: 'end_turn' });
  expect(at.heard(1)).toContain('The user did not allow this call');
  expect(existsSync(join(at.cwd, 'made'))).toBe(false);
});

test.each<[unknown]>([[5], [['text']], [{ text: 'text' }]])(
  'a file of the editor that is %j is read from the disk',
  async (content) => {
    const cwd = tempDirectory({ 'a.txt': 'on disk\n' });
    const file_path = join(cwd, 'a.txt');
    const script = [{ calls: [{ name: 'read_file', args: { file_path } }] }, { text: 'Done.' }];
    const at = await editor({ cwd, script, buffers: new Map([[file_path, content]]) });
    await at.prompt((await at.open()).sessionId, 'read it');
    expect(at.heard(1)).toContain('on disk');
  },
);

test('a session that is opened several times at once is open once, and can be deleted', async () => {
  const at = await editor();
  const { sessionId } = await at.open();
  await at.prompt(sessionId, 'hello');
  const params = { sessionId, cwd: at.cwd, mcpServers: [] };
  const open = () => at.agent.request(session.resume, params);
  await Promise.all([open(), open(), open()]);
  await at.prompt(sessionId, 'hello again');
  await at.agent.request(session.delete, { sessionId });
  expect(await at.agent.request(session.list, {})).toEqual({ sessions: [] });
});

test('a huge prompt is taken, and a message beyond all limits ends the process cleanly', async () => {
  const at = await editor();
  const { sessionId } = await at.open();
  const answer = await at.prompt(sessionId, 'x'.repeat(8_000_000)).catch((error: unknown) => error);
  expect(answer).toBeDefined();
  expect(at.textOf('agent_message_chunk').length).toBeGreaterThan(0);
  at.assertConformance();
  at.child.stdin.write(Buffer.alloc(40 << 20, 0x61));
  at.child.stdin.on('error', () => undefined);
  expect(await at.exited).toBe(0);
});

test('an editor that reads nothing, and then goes away, ends the process', async () => {
  const server = await modelServer([{ text: 'word '.repeat(200_000) }]);
  const { child, start } = raw(modelVariables('openai', server.url));
  await start();
  child.stdout.pause();
  await expect.poll(() => server.requests.length, { timeout: 20_000 }).toBe(1);
  child.stdin.end();
  await once(child, 'exit');
});

test('an editor that is killed while it asks ends the process, and nothing is written', async () => {
  const cwd = tempDirectory({ 'a.txt': 'one\n' });
  const args = { file_path: join(cwd, 'a.txt'), old_string: 'one', new_string: '1' };
  const at = await editor({ cwd, answer: () => 'never', script: [{ calls: [{ name: 'edit', args }] }] });
  const { sessionId } = await at.open();
  void at.prompt(sessionId, 'edit it').catch(() => 'gone');
  await expect.poll(() => at.questions.length).toBe(1);
  at.child.stdin.destroy();
  at.child.stdout.destroy();
  await expect.poll(() => at.child.exitCode).toBe(0);
  expect(readFileSync(args.file_path, 'utf8')).toBe('one\n');
});

test('without a model the editor learns how to get one', async () => {
  const at = await editor({
    env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', OPENAI_MODEL: '' },
    args: ['-m', 'ollama/none'],
  });
  await expect(at.open()).rejects.toThrow(/ollama|model/i);
  expect(await at.leave()).toBe(0);
});

test('after the editor has sent a file with keys, a call that can send asks although a rule allows it', async () => {
  const page = await modelServer([]);
  const permissions = { allow: [`web_fetch(${new URL(page.url).host})`] };
  const at = await editor({
    home: tempDirectory({ '.lathe/settings.json': JSON.stringify({ permissions }) }),
    script: [{ calls: [{ name: 'web_fetch', args: { url: `${page.url}/leak`, prompt: 'send' } }] }, { text: 'done' }],
    answer: () => 'No',
  });
  const { sessionId } = await at.open();
  const resource = { uri: `file://${at.cwd}/.env#L1`, text: 'TOKEN=abc' };
  const prompt = [
    { type: 'text' as const, text: 'what is this?' },
    { type: 'resource' as const, resource },
  ];
  await at.agent.request(session.prompt, { sessionId, prompt });
  expect(at.questions).toHaveLength(1);
  expect(page.requests).toEqual([]);
});
