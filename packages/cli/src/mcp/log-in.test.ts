import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildProgram, type ProgramResult, runProgram } from '../../../../testing/lathe-program.js';
import { oauthMetadata } from '../../../../testing/oauth-metadata.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { webServer } from '../../../../testing/web-server.js';

beforeAll(buildProgram, 300_000);

const json = (response: ServerResponse, value: object) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

const results: Record<string, object> = {
  initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'web', version: '1' } },
  'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
};

/** A server that requires a login. */
async function serve(): Promise<string> {
  const server = await webServer(({ headers, method = '', url: path = '' }, response) => {
    const body = server.requests.at(-1)?.body ?? '';
    for (const [start, metadata] of Object.entries(oauthMetadata(`http://${headers.host}`)))
      if (path.startsWith(start)) return json(response, metadata);
    if (path === '/register') return json(response, { ...JSON.parse(body), client_id: 'us' });
    if (path === '/token') return json(response, { access_token: 'secret', token_type: 'Bearer' });
    if (headers.authorization === undefined) return void response.writeHead(path === '/mcp' ? 401 : 404).end();
    if (method !== 'POST') return void response.writeHead(405).end();
    const { id, method: asked = '' } = JSON.parse(body) as { id?: number; method?: string };
    if (id === undefined) return void response.writeHead(202).end();
    const answer = results[asked] ? { result: results[asked] } : { error: { code: -32_601, message: 'unknown' } };
    json(response, { jsonrpc: '2.0', id, ...answer });
  });
  return `${server.url}/mcp`;
}

/** Runs `lathe mcp auth` until the login page has been open for a while. */
async function shownPage(): Promise<{ callback: URL; child: ChildProcess; ended: Promise<ProgramResult> }> {
  const settings = { mcpServers: { web: { httpUrl: await serve() } } };
  const home = tempDirectory({ '.lathe/settings.json': JSON.stringify(settings) });
  let child: ChildProcess | undefined;
  let shown = '';
  const ended = runProgram(['mcp', 'auth', 'web'], {
    home,
    onStart: (started) => {
      child = started;
      started.stderr?.on('data', (data) => (shown += data));
    },
  });
  await expect.poll(() => shown, { timeout: 30_000 }).toMatch(/authorize\?\S+\s/);
  if (child === undefined) throw new Error('the program did not start');
  const page = new URL(/http:\S+authorize\?\S+/.exec(shown)?.[0] ?? '');
  const callback = new URL(page.searchParams.get('redirect_uri') ?? '');
  callback.searchParams.set('state', page.searchParams.get('state') ?? '');
  callback.searchParams.set('code', 'code');
  // A person needs time to type a password.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  return { callback, child, ended };
}

test('lathe mcp auth waits until the person has logged in', async () => {
  const { callback, ended } = await shownPage();
  // Browsers open connections in advance that they may never use.
  const unused = connect(Number(callback.port), callback.hostname);
  onTestFinished(() => void unused.destroy());
  await once(unused, 'connect');
  expect((await fetch(callback)).status).toBe(200);
  const { code, stdout } = await ended;
  expect(stdout).toMatch(/^web: works .* web__echo$/m);
  expect(code).toBe(0);
}, 90_000);

test('Ctrl+C ends the wait for a login', async () => {
  const { child, ended } = await shownPage();
  child.kill('SIGINT');
  expect((await ended).code).toBe(130);
}, 90_000);
