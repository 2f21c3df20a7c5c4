import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type AgentServer, agentServer } from '../../../../testing/agent-server.js';
import { bombs } from '../../../../testing/json-bombs.js';
import { buildProgram } from '../../../../testing/lathe-program.js';
import { isLong, report } from '../../../../testing/long-run.js';
import { canSeeProcesses } from '../../../../testing/running.js';

beforeAll(buildProgram, 300_000);

const megabyte = 1024 * 1024;

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
  agent?: Agent;
}

/** A request as anybody could send it; valid but for what is given. */
async function send(
  { url, token }: AgentServer,
  { method = 'POST', path = '/v1/sessions', headers, body = '{}', agent }: Sent,
) {
  const sent = request({
    host: url.hostname,
    port: url.port,
    method,
    path,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(agent && { agent }),
  });
  const answered = new Promise<{ status: number; body: string }>((resolve) => {
    sent.on('response', (response) => {
      const status = response.statusCode ?? 0;
      text(response).then(
        (received) => resolve({ status, body: received }),
        () => resolve({ status, body: '' }),
      );
    });
    // A client that sends too much may be disconnected before the answer arrives, or after it.
    sent.on('error', () => resolve({ status: 413, body: '' }));
  });
  sent.end(method === 'POST' ? body : undefined);
  return answered;
}

/** The most memory that the server has had, in bytes. */
function peak({ child }: AgentServer): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

// SL03
test('only a request with the token, to this host, from no other origin, is answered', async () => {
  const server = await agentServer([{ text: 'hi' }]);
  const { port } = server.url;
  const table: [number, Sent][] = [
    [401, { headers: { authorization: '' } }],
    [401, { headers: { authorization: `Bearer ${'A'.repeat(43)}` } }],
    [401, { headers: { authorization: `Basic ${server.token}` } }],
    [401, { path: `/v1/sessions?token=${server.token}`, headers: { authorization: '' } }],
    [403, { headers: { origin: 'https://evil.example' } }],
    [403, { headers: { origin: 'null' } }],
    [403, { headers: { origin: 'http://127.0.0.1:1' } }],
    // A name that its owner points at this address.
    [403, { headers: { host: `evil.example:${port}` } }],
    [403, { headers: { host: '127.0.0.1:1' } }],
    [403, { method: 'GET', path: '/', headers: { host: 'evil.example' } }],
    // What a form of another page can send without asking.
    [415, { headers: { 'content-type': 'text/plain' } }],
    [415, { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: '{}' }],
    [415, { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: '{}' }],
    [415, { headers: { 'content-type': '' }, body: '{}' }],
    [401, { headers: { authorization: '', cookie: `token=${server.token}` } }],
    [400, { body: '{"mode":"everything"}' }],
    [400, { body: '{"cwd":"/"}' }],
    [400, { body: '{' }],
    [404, { method: 'GET', path: '//' }],
    [404, { method: 'GET', path: 'http://[/' }],
    [404, { method: 'GET', path: '/v1/../etc/passwd' }],
    [404, { method: 'GET', path: '/v1/sessions/..%2f..%2fetc' }],
    [404, { path: '/v1/sessions/made-up/prompt', body: '{"text":"hi"}' }],
    [404, { method: 'DELETE', path: '/v1/sessions/00000000-0000-4000-8000-000000000000' }],
    [405, { method: 'PUT' }],
    [413, { body: `{"model":"${'x'.repeat(9 * megabyte)}"}` }],
    [413, { headers: { 'content-length': '99999999999' }, body: '' }],
    [200, { method: 'GET', headers: { origin: `http://127.0.0.1:${port}` } }],
    [200, { method: 'GET', headers: { host: `localhost:${port}` } }],
  ];
  for (const [status, sent] of table)
    expect(await send(server, sent), JSON.stringify(sent).slice(0, 200)).toMatchObject({ status });
  expect(await server.client.sessions()).toEqual([]);
});

test.skipIf(!canSeeProcesses)('bodies that would fill the memory are refused before they are parsed', async () => {
  const server = await agentServer([{ text: 'hi' }]);
  const before = peak(server);
  for (const [what, body] of bombs) expect([400, 413], what).toContain((await send(server, { body })).status);
  expect(peak(server) - before).toBeLessThan(64 * megabyte);
  expect((await server.client.createSession()).status).toBe('idle');
});

test.skipIf(!canSeeProcesses)(
  'thousands of requests, with and without the token, take little memory',
  async () => {
    const server = await agentServer([{ text: 'hi' }]);
    const { id } = await server.client.createSession();
    const agent = new Agent({ keepAlive: true, maxSockets: 50 });
    onTestFinished(() => agent.destroy());
    const before = peak(server);
    const kinds: Sent[] = [
      { method: 'GET', path: `/v1/sessions/${id}`, agent },
      { method: 'GET', path: `/v1/sessions/${id}`, headers: { authorization: 'Bearer x' }, agent },
      { path: `/v1/sessions/${id}/prompt`, body: '{"txt":"wrong"}', agent },
      { method: 'GET', path: '/nothing', agent },
    ];
    const count = isLong ? 10_000 : 1_000;
    const statuses = new Map<number, number>();
    for (let done = 0; done < count; done += 200) {
      const answers = await Promise.all(Array.from({ length: 200 }, (_, at) => send(server, kinds[at % 4] ?? {})));
      for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    const each = count / 4;
    expect(Object.fromEntries(statuses)).toEqual({ 200: each, 401: each, 400: each, 404: each });
    report('requests to the agent server', count, { megabytes: Math.round((peak(server) - before) / megabyte) });
    expect(peak(server) - before).toBeLessThan(64 * megabyte);
  },
  120_000,
);

test('no more than sixteen sessions are open: the idle one used longest ago makes room, one that is followed does not', async () => {
  const server = await agentServer([{ text: 'hi' }]);
  const { client } = server;
  const first = await client.createSession();
  const reader = await follow(server, first.id);
  const second = await client.createSession();
  for (let count = 0; count < 15; count++) await client.createSession();
  const open = (await client.sessions()).map(({ id }) => id);
  expect([open.length, open.includes(first.id), open.includes(second.id)]).toEqual([16, true, false]);
  reader.destroy();
});

test('the page tells nobody the address it is at, and no other page can frame it', async () => {
  const { headers } = await fetch((await agentServer([{ text: 'hi' }])).url.origin);
  expect(Object.fromEntries(headers)).toMatchObject({
    'referrer-policy': 'no-referrer',
    'content-security-policy': "frame-ancestors 'none'",
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
});

test.skipIf(!canSeeProcesses)('hundreds of readers are bounded, and the work continues', async () => {
  const server = await agentServer([{ text: 'the answer' }]);
  const { client } = server;
  const { id } = await client.createSession();
  const before = peak(server);
  const readers = Array.from({ length: 400 }, () => follow(server, id).catch(() => undefined));
  // Beyond the limit a reader is refused until another one leaves.
  const sockets = await Promise.all(readers);
  const heads = sockets.map((socket) => String(socket?.read() ?? '').slice(9, 12));
  expect(heads.filter((status) => status === '200').length).toBeLessThanOrEqual(256);
  expect(heads.filter((status) => status === '503').length).toBeGreaterThan(100);
  for (const socket of sockets) socket?.destroy();
  await expect
    .poll(() =>
      client
        .prompt(id, 'go')
        .then(() => 'sent')
        .catch(() => 'busy'),
    )
    .toBe('sent');
  for await (const event of client.events(id, { signal: AbortSignal.timeout(25_000) }))
    if (event.type === 'prompt-end') break;
  expect(peak(server) - before).toBeLessThan(64 * megabyte);
});

/** Follows a session without reading anything. */
async function follow({ url, token }: AgentServer, id: string): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const head = `GET /v1/sessions/${id}/events HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  socket.write(head);
  // Read nothing after the first bytes, which say that the server has noticed.
  await once(socket, 'readable');
  return socket;
}

test.skipIf(!canSeeProcesses)('readers that do not read hold up nobody and take little memory', async () => {
  const words = 'many words in a long answer '.repeat(isLong ? 40_000 : 4_000);
  const server = await agentServer([{ text: words }]);
  const { client } = server;
  const { id } = await client.createSession();
  const before = peak(server);
  const sockets = await Promise.all(Array.from({ length: 20 }, () => follow(server, id)));
  await client.prompt(id, 'go');
  for await (const event of client.events(id, { signal: AbortSignal.timeout(25_000) }))
    if (event.type === 'prompt-end') break;
  expect(peak(server) - before).toBeLessThan(64 * megabyte);
  // A reader that continues after all gets the end.
  let received = '';
  for await (const chunk of sockets[0] ?? []) {
    received += chunk;
    if (received.includes('"prompt-end"')) break;
  }
  expect(received).toContain('"prompt-end"');
});
