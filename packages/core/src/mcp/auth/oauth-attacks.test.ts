import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { badServer } from '../../../../../testing/bad-mcp-servers.js';
import { mcpWorld } from '../../../../../testing/mcp-world.js';
import { oauthMetadata } from '../../../../../testing/oauth-metadata.js';
import { type WebServer, webServer } from '../../../../../testing/web-server.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const json = (response: ServerResponse, value: object) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

/** What a server heard, headers included. */
const heardBy = ({ requests }: WebServer) => requests.map((request) => JSON.stringify(request));
const hasHeard = (server: WebServer, words: string) => heardBy(server).some((request) => request.includes(words));

/** Somebody who would like to have what is meant for others, and plays along with everything. */
const thief = () =>
  webServer((_, response) => json(response, { access_token: 'stolen', token_type: 'Bearer', client_id: 'stolen' }));

interface Lies {
  resource?: (own: string) => object;
  metadata?: (own: string) => object;
  token?: Answer;
  /** What a request with a token gets. */
  mcp?: Answer;
  /** What the browser brings back beside the code and the state. */
  callback?: Record<string, string>;
}

const honestToken: Answer = (_, response) => json(response, { access_token: 'secret-token', token_type: 'Bearer' });
const unavailable: Answer = (_, response) => void response.writeHead(500).end();

/** A person logs in to a server that wants it, where every part of the way may lie. */
async function logIn({ resource, metadata, token = honestToken, mcp = unavailable, callback = {} }: Lies) {
  const server = await webServer((request, response) => {
    const own = `http://${request.headers.host}`;
    const path = request.url ?? '';
    const honest = oauthMetadata(own);
    if (path.startsWith('/.well-known/oauth-protected-resource'))
      return json(response, { ...honest['/.well-known/oauth-protected-resource'], ...resource?.(own) });
    if (path.startsWith('/.well-known/oauth-authorization-server'))
      return json(response, { ...honest['/.well-known/oauth-authorization-server'], ...metadata?.(own) });
    if (path === '/register')
      return json(response, { ...JSON.parse(server.requests.at(-1)?.body ?? ''), client_id: 'us' });
    if (path === '/token') return token(request, response);
    if (request.headers.authorization !== undefined) return mcp(request, response);
    response.writeHead(path === '/mcp' ? 401 : 404).end();
  });
  const pages: string[] = [];
  const openPage = async (url: URL) => {
    pages.push(url.href);
    const back = new URL(url.searchParams.get('redirect_uri') ?? '');
    const said = { code: 'secret-code', state: url.searchParams.get('state') ?? '', ...callback };
    for (const [name, value] of Object.entries(said)) back.searchParams.set(name, value);
    await fetch(back);
  };
  const url = new URL(`${server.url}/mcp`);
  const definition = badServer('web', { endpoint: { type: 'http', url, headers: { 'x-key': 'secret-key' } } });
  const failures = await mcpWorld([definition], { openPage }).discover();
  return { failure: failures.get('MCP server web'), pages, server };
}

test('an honest server gets its code and its own token', async () => {
  const { pages, server } = await logIn({});
  expect(pages).toHaveLength(1);
  for (const secret of ['secret-code', 'Bearer secret-token', 'secret-key'])
    expect(hasHeard(server, secret)).toBe(true);
});

test.each([
  'javascript:alert(1)',
  'file:///etc/passwd',
  'data:text/html,x',
  'ftp://127.0.0.1/',
  'calculator:x',
  'not an address',
])('SG11: metadata with the URL %s is rejected', async (address) => {
  for (const part of ['authorization_endpoint', 'token_endpoint', 'registration_endpoint']) {
    const { failure, pages, server } = await logIn({ metadata: () => ({ [part]: address }) });
    expect(failure, part).toBeInstanceOf(Error);
    if (part !== 'token_endpoint') expect(pages, part).toEqual([]);
    expect(hasHeard(server, 'Bearer'), part).toBe(false);
  }
});

test('SG12: a wrong issuer in the metadata or in a token is rejected', async () => {
  const stranger = await thief();
  const lies: Record<string, Lies> = {
    issuer: { metadata: () => ({ issuer: stranger.url }) },
    'issuer and endpoint': { metadata: () => ({ issuer: stranger.url, token_endpoint: `${stranger.url}/token` }) },
    resource: { resource: () => ({ resource: `${stranger.url}/mcp` }) },
    'a resource beside it': { resource: (own) => ({ resource: `${own}/mcp-of-others` }) },
  };
  for (const [what, lie] of Object.entries(lies)) {
    const { failure, pages } = await logIn(lie);
    expect(failure, what).toBeInstanceOf(Error);
    expect(pages, what).toEqual([]);
  }
  expect(stranger.requests).toEqual([]);
});

test('SG12: a code from another issuer is not sent to ours', async () => {
  const { failure, server } = await logIn({
    metadata: () => ({ authorization_response_iss_parameter_supported: true }),
    callback: { iss: 'https://another.example' },
  });
  expect(failure).toBeInstanceOf(Error);
  expect(hasHeard(server, 'secret-code')).toBe(false);
});

test.each([301, 302, 303, 307, 308])('SG12: no secret follows a redirect (%i) to another host', async (status) => {
  const stranger = await thief();
  const elsewhere: Answer = (_, response) => void response.writeHead(status, { location: `${stranger.url}/x` }).end();
  for (const lie of [{ token: elsewhere }, { mcp: elsewhere }]) {
    const { failure, server } = await logIn(lie);
    expect(failure).toBeInstanceOf(Error);
    expect(hasHeard(server, 'secret-code')).toBe(true);
  }
  expect(heardBy(stranger).filter((request) => /secret|code_verifier/.test(request))).toEqual([]);
});
