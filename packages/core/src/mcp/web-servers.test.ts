import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { badServer } from '../../../../testing/bad-mcp-servers.js';
import { mcpWorld, type WorldOptions } from '../../../../testing/mcp-world.js';

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

test('a server on the web works like one started here', async () => {
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

test('a server that wants a login says how to give it, and nobody is registered anywhere', async () => {
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
