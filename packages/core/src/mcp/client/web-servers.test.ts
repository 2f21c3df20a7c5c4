import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { badServer } from '../../../../../testing/bad-mcp-servers.js';
import { mcpWorld, type WorldOptions } from '../../../../../testing/mcp-world.js';
import { selfSigned } from '../../../../../testing/self-signed.js';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A web server on this machine. */
async function serve(handler: Handler): Promise<URL> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => handler(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close().closeAllConnections());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
}

async function connectTo(handler: Handler, options: WorldOptions = {}) {
  const url = await serve(handler);
  const definition = badServer('web', { endpoint: { type: 'http', url, headers: {} }, startTimeoutMs: 15_000 });
  const world = mcpWorld([definition], options);
  return { ...world, url, failure: (await world.discover()).get('MCP server web') };
}

/** Speaks the older era with plain JSON answers. */
const good: Handler = (request, response, body) => {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method } = JSON.parse(body) as { id?: number; method: string };
  if (id === undefined) return void response.writeHead(202).end();
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'web', version: '1' },
    },
    'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'ok' }] },
  };
  const result = results[method];
  const answer = result ? { result } : { error: { code: -32601, message: 'no such method' } };
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
};

test('a web server works like a local one', async () => {
  const { failure, run, sources } = await connectTo(good);
  expect(failure).toBeUndefined();
  expect(sources[0]?.client.state).toMatchObject({ status: 'ready', protocolVersion: '2025-11-25' });
  expect(await run('web__echo')).toMatchObject({ status: 'success', llmContent: 'ok' });
});

test.each<[string, Handler]>([
  ['403', (_, response) => response.writeHead(403).end()],
  ['404', (_, response) => response.writeHead(404).end()],
  ['405', (_, response) => response.writeHead(405).end()],
  ['429', (_, response) => response.writeHead(429, { 'retry-after': '7' }).end()],
  ['500', (_, response) => response.writeHead(500).end('oops')],
  ['the wrong type', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
  ['no JSON', (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":')],
  ['a redirection without end', (_, response) => response.writeHead(307, { location: '/mcp' }).end()],
  ['a redirection elsewhere', (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end()],
  ['a cut connection', (request) => void request.socket.destroy()],
  [
    'twenty megabytes',
    (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(`"${'x'.repeat(20e6)}"`),
  ],
])('RM13: %s is one clear error', async (_title, handler) => {
  const { failure, registry } = await connectTo(handler);
  expect(failure).toBeInstanceOf(Error);
  expect(registry.getAllTools()).toEqual([]);
});

test('a server that requires a login fails with a hint, and no client is registered', async () => {
  const paths: string[] = [];
  const { failure } = await connectTo((request, response) => {
    paths.push(`${request.method} ${request.url}`);
    if (request.url?.startsWith('/.well-known/oauth-authorization-server')) {
      const issuer = `http://${request.headers.host}`;
      const metadata = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
    }
    response.writeHead(request.url === '/mcp' ? 401 : 404).end();
  });
  expect(String(failure)).toContain('lathe mcp auth web');
  expect(paths.filter((path) => path.startsWith('POST') && path !== 'POST /mcp')).toEqual([]);
});

/** Counts how often each method was asked for. */
function counting(handler: Handler): { handler: Handler; asked: (method: string) => number } {
  const methods: string[] = [];
  return {
    handler: (request, response, body) => {
      if (body !== '') methods.push((JSON.parse(body) as { method: string }).method);
      handler(request, response, body);
    },
    asked: (method) => methods.filter((other) => other === method).length,
  };
}

const isCall = (body: string) => body.includes('"tools/call"');
const event = (id: string, data: string) => `id: ${id}\nretry: 10\ndata: ${data}\n\n`;
const answerTo = (body: string, text: string) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: (JSON.parse(body) as { id: number }).id,
    result: { content: [{ type: 'text', text }] },
  });

test('RM14: an interrupted response stream is resumed, and the call runs once', async () => {
  let answer = '';
  const { handler, asked } = counting((request, response, body) => {
    if (request.method === 'GET' && request.headers['last-event-id'] === 'first')
      return void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(event('second', answer));
    if (!isCall(body)) return good(request, response, body);
    answer = answerTo(body, 'resumed');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event('first', ''), () => request.socket.destroy());
  });
  const { run } = await connectTo(handler);
  expect(await run('web__echo')).toMatchObject({ status: 'success', llmContent: 'resumed' });
  expect(asked('tools/call')).toBe(1);
});

test.each<[string, Handler]>([
  ['is cut before an answer', (request) => void request.socket.destroy()],
  [
    'is cut within an answer',
    (request, response, body) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 });
      response.write(answerTo(body, 'half').slice(0, 20), () => request.socket.destroy());
    },
  ],
  ['says that the session is over', (_, response) => response.writeHead(404).end()],
  ['is busy', (_, response) => response.writeHead(503, { 'retry-after': '1' }).end()],
])('RM14: a call whose connection %s fails once and is not repeated', async (_title, onCall) => {
  const { handler, asked } = counting((request, response, body) =>
    isCall(body) ? onCall(request, response, body) : good(request, response, body),
  );
  const { run } = await connectTo(handler);
  expect((await run('web__echo'))?.error?.type).toBe('mcp_tool_error');
  expect(asked('tools/call')).toBe(1);
});

test('RM14: an expired session causes one error, and the next call opens a new one', async () => {
  let current = 0;
  const { handler, asked } = counting((request, response, body) => {
    if (body.includes('"initialize"')) response.setHeader('mcp-session-id', `session-${++current}`);
    else if (request.headers['mcp-session-id'] !== `session-${current}`) return void response.writeHead(404).end();
    good(request, response, body);
  });
  const { run } = await connectTo(handler);
  expect((await run('web__echo'))?.status).toBe('success');
  current++;
  expect((await run('web__echo'))?.error?.type).toBe('mcp_tool_error');
  expect((await run('web__echo'))?.status).toBe('success');
  expect(asked('initialize')).toBe(2);
  expect(asked('tools/call')).toBe(3);
});

test('RM14: a server with an untrusted certificate is one clear error and gets no secret', async () => {
  const heard: string[] = [];
  const server = createTlsServer(selfSigned, (request, response) => {
    heard.push(request.headers.authorization ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close().closeAllConnections());
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  const endpoint = { type: 'http', url, headers: { authorization: 'Bearer secret' } } as const;
  const failures = await mcpWorld([badServer('web', { endpoint })]).discover();
  expect(String(failures.get('MCP server web'))).toMatch(/certificate/i);
  expect(heard).toEqual([]);
});
