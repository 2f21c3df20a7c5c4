import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { bombs } from '../../../../../testing/json-bombs.js';
import { buildProgram } from '../../../../../testing/lathe-program.js';
import { type ClientSetup, eras, mcpClient, program } from '../../../../../testing/mcp-client.js';
import { processesWith, uniqueSleep } from '../../../../../testing/processes.js';
import { canSeeProcesses } from '../../../../../testing/running.js';

let cwd: string;
let server: ChildProcess;
let url: URL;
let token: string;

beforeAll(async () => {
  buildProgram();
  cwd = mkdtempSync(join(tmpdir(), 'lathe-serve-'));
  server = spawn(process.execPath, [program, '--allowed-tools', 'run_shell_command(sleep *)', 'serve', '--http'], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let told = '';
  server.stderr?.on('data', (data) => (told += data));
  const [, address = '', secret = ''] = await vi.waitFor(
    () => /serving (\S+)\n.*Bearer (\S+)\n/.exec(told) ?? expect.fail('not listening yet'),
    { timeout: 20_000 },
  );
  [url, token] = [new URL(address), secret];
}, 120_000);

afterAll(async () => {
  if (server.exitCode === null) {
    const exited = once(server, 'exit');
    server.kill('SIGTERM');
    await exited;
  }
  rmSync(cwd, { recursive: true, force: true });
});

async function connected(setup?: ClientSetup): Promise<Client> {
  const client = mcpClient(setup);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

/** What a plain request with these headers gets. */
async function post(headers: Record<string, string>, path = url.pathname, body = initialize) {
  const all = { ...valid(), ...headers };
  const sent = request({ host: url.hostname, port: url.port, path, method: 'POST', headers: all });
  const answered = once(sent, 'response');
  // The end of the connection may also be noticed after the answer.
  sent.on('error', () => undefined);
  sent.end(body);
  const [response] = await answered;
  const said = response.statusCode === 400 ? await text(response) : response.resume() && '';
  return { status: response.statusCode, session: response.headers['mcp-session-id'], said };
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});

const wrongToken = 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer AAAA\r\nContent-Length: 9\r\n\r\n{';

function valid(): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
}

test.each(eras)('in era %j a client lists, reads, and changes what its user accepts', async (era) => {
  writeFileSync(join(cwd, 'a.txt'), 'hello\n');
  const client = await connected({
    era,
    answer: ({ message }) => (message.includes('+yes') ? { action: 'accept', content: {} } : { action: 'decline' }),
  });
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('read_file');
  const read = await client.callTool({ name: 'read_file', arguments: { absolute_path: join(cwd, 'a.txt') } });
  expect(read.content).toEqual([{ type: 'text', text: expect.stringContaining('hello') }]);
  const file_path = join(cwd, `${JSON.stringify(era).length}.txt`);
  await client.callTool({ name: 'write_file', arguments: { file_path, content: 'yes\n' } });
  expect(readFileSync(file_path, 'utf8')).toBe('yes\n');
  const declined = await client.callTool({ name: 'run_shell_command', arguments: { command: 'touch made' } });
  expect(declined).toMatchObject({ isError: true, _meta: { 'lathe/error': { type: 'execution_denied' } } });
  expect(existsSync(join(cwd, 'made'))).toBe(false);
});

// SL03
test.each([
  ['no token', 401, { authorization: '' }],
  ['a wrong token', 401, { authorization: 'Bearer AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
  ['a foreign origin', 403, { origin: 'https://evil.example' }],
  ['the origin of another local port', 403, { origin: 'http://127.0.0.1:1' }],
  ['a page without an origin', 403, { origin: 'null' }],
  ['a name that was bound to this address', 403, { host: 'evil.example' }],
  ['this address at another port', 403, { host: '127.0.0.1:1' }],
  ['no media type of JSON', 415, { 'content-type': 'text/plain' }],
  ['a session that is not there', 404, { 'mcp-session-id': 'made-up' }],
])('%s is rejected with %i', async (_what, status, headers) => {
  expect(await post(headers)).toMatchObject({ status });
});

test('its own origin and host names are accepted, other paths are not found, and more than 16 MB are not read', async () => {
  expect(await post({ origin: url.origin })).toMatchObject({ status: 200 });
  expect(await post({ host: `localhost:${url.port}` })).toMatchObject({ status: 200 });
  expect(await post({}, '/other')).toMatchObject({ status: 404 });
  // Whether the answer or the end of the connection is seen first depends on how much was under way.
  const tooMuch = post({}, url.pathname, ' '.repeat(17 * 1024 * 1024));
  expect(await tooMuch.catch(() => ({ status: 413 }))).toMatchObject({ status: 413 });
});

test.each(bombs)('a message with %s is rejected before it is parsed', async (_what, body, problem) => {
  expect(await post({}, url.pathname, body)).toMatchObject({ status: 400, said: expect.stringContaining(problem) });
});

/** Connections that have said `head` and nothing since. */
async function crowd(count: number, head: string): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(Number(url.port), url.hostname));
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  // Those that have to make room are cut off, which is not always told politely.
  for (const socket of sockets) socket.on('error', () => undefined).resume();
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write(head);
  return sockets;
}

// SL03
test.each([
  ['say nothing', ''],
  ['send half a request', 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer '],
  ['send a wrong token and half a body', wrongToken],
  ['ask for what there is not', 'GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: nothing\r\n\r\n'],
])('a thousand connections without the token that %s do not block a client that has it', async (_what, head) => {
  const early = await connected();
  const sockets = await crowd(1_000, head);
  const late = await connected();
  expect((await late.listTools()).tools.length).toBeGreaterThan(5);
  expect((await early.listTools()).tools.length).toBeGreaterThan(5);
  await expect.poll(() => sockets.filter(({ closed }) => !closed).length).toBeLessThanOrEqual(512);
});

test('idle connections with the token are closed for new ones', async () => {
  const initializing = `POST /mcp HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${token}\r\n`;
  const sockets = await crowd(300, `${initializing}Content-Length: 0\r\n\r\n`);
  await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(300 - 256);
  const busy = await crowd(300, `${initializing}Content-Length: 1\r\n\r\n`);
  await expect.poll(() => post({})).toMatchObject({ status: 503 });
  for (const socket of busy) socket.destroy();
  await expect.poll(() => post({})).toMatchObject({ status: 200 });
});

const outside = Object.values(networkInterfaces())
  .flat()
  .find((address) => address && !address.internal && address.family === 'IPv4')?.address;

// SL03
test.skipIf(outside === undefined)('nothing listens on an address that other machines can reach', async () => {
  const socket = connect(Number(url.port), outside ?? '');
  const [error] = await once(socket, 'error').catch((thrown: unknown) => [thrown]);
  expect(error).toMatchObject({ code: 'ECONNREFUSED' });
});

test('an answer to a question that was never asked is rejected', async () => {
  const revision = '2026-07-28';
  const command = 'touch made';
  const params = {
    name: 'run_shell_command',
    arguments: { command },
    inputResponses: { approval: { action: 'accept', content: {} } },
    requestState: 'made-up',
    _meta: {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    },
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...valid(), 'mcp-protocol-version': revision, 'mcp-method': 'tools/call', 'mcp-name': params.name },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  expect(await response.json()).toMatchObject({ error: { code: -32_602, data: { reason: 'invalid_request_state' } } });
  expect(existsSync(join(cwd, 'made'))).toBe(false);
});

test('a client that abandons its sessions does not exhaust the server', async () => {
  const opened = await Promise.all(Array.from({ length: 40 }, () => post({})));
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
  const pings = opened.map(({ session }) => post({ 'mcp-session-id': session }, url.pathname, ping));
  const statuses = (await Promise.all(pings)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(16);
  const client = await connected();
  expect((await client.listTools()).tools.length).toBeGreaterThan(5);
});

test('an invalid start of a session ends no other session', async () => {
  const { session } = await post({});
  const junk = ['{}', '[]', 'null', '{"jsonrpc":"2.0","id":1,"method":"ping"}'];
  for (let round = 0; round < 10; round++)
    for (const body of junk) expect(await post({}, url.pathname, body)).toMatchObject({ status: 400 });
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
  expect(await post({ 'mcp-session-id': session }, url.pathname, ping)).toMatchObject({ status: 200 });
});

test.skipIf(!canSeeProcesses).each(eras)('in era %j cancelling ends the command', async (era) => {
  const client = await connected({ era });
  const sleep = uniqueSleep();
  const controller = new AbortController();
  const running = client.callTool(
    { name: 'run_shell_command', arguments: { command: `sleep ${sleep}` } },
    { signal: controller.signal },
  );
  running.catch(() => undefined);
  await vi.waitFor(() => expect(processesWith(sleep)).not.toEqual([]), { timeout: 10_000 });
  controller.abort(new Error('enough'));
  await expect(running).rejects.toThrow(/enough/);
  await vi.waitFor(() => expect(processesWith(sleep)).toEqual([]), { timeout: 10_000 });
});

test.skipIf(!canSeeProcesses)('ending the server ends what runs in its sessions', async () => {
  const sleep = uniqueSleep();
  const clients = [await connected(), await connected({ era: eras[1] })];
  for (const client of clients)
    client.callTool({ name: 'run_shell_command', arguments: { command: `sleep ${sleep}` } }).catch(() => undefined);
  await vi.waitFor(() => expect(processesWith(sleep).length).toBeGreaterThan(1), { timeout: 10_000 });
  const exited = once(server, 'exit');
  server.kill('SIGTERM');
  expect(await exited).toEqual([130, null]);
  await vi.waitFor(() => expect(processesWith(sleep)).toEqual([]), { timeout: 10_000 });
});
