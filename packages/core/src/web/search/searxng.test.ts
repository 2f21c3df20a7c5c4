import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { hasProgram } from '../../../../../testing/programs.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { never, webServer } from '../../../../../testing/web-server.js';
import { textOf } from '../../contract/content.js';
import { WebSearchTool } from '../../tools/web-search.js';
import { openEngines } from './open-engines.js';

/** A searx of its own, whose only engine asks `source`, with as little around it as it starts with. */
function settingsFor(port: number, source: string) {
  const engine = {
    name: 'local',
    engine: 'json_engine',
    shortcut: 'lo',
    categories: 'general',
    enable_http: true,
    search_url: `${source}/?q={query}`,
    results_query: 'found',
    url_query: 'address',
    title_query: 'name',
    content_query: 'about',
  };
  const resources = '/usr/share/python3-searx';
  return {
    general: { debug: false, instance_name: 'test' },
    search: {
      formats: ['html', 'json'],
      autocomplete: '',
      safe_search: 0,
      default_lang: 'en',
      ban_time_on_fail: 0,
      max_ban_time_on_fail: 0,
    },
    server: { port, bind_address: '127.0.0.1', secret_key: 'none', limiter: false, base_url: false, method: 'GET' },
    ui: { static_path: `${resources}/static`, templates_path: `${resources}/templates`, default_theme: 'simple' },
    outgoing: { request_timeout: 20.5, enable_http2: false },
    engines: [engine],
    doi_resolvers: { none: 'https://example.com/' },
    default_doi_resolver: 'none',
    locales: { en: 'English' },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

async function startSearx(source: string): Promise<string> {
  const port = await freePort();
  // JSON is YAML.
  const root = tempDirectory({ 'settings.yml': JSON.stringify(settingsFor(port, source)) });
  const env = { PATH: '/usr/bin:/bin', SEARX_SETTINGS_PATH: join(root, 'settings.yml') };
  const child = spawn('searx-run', [], { cwd: root, env, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  while (child.exitCode === null) {
    const answer = await fetch(`${url}/healthz`).catch(() => undefined);
    if (answer) return url;
    await delay(100);
  }
  throw new Error('searx did not start');
}

test.skipIf(!hasProgram('searx-run'))('a real searx server returns results', { timeout: 120_000 }, async () => {
  const found = [{ address: 'https://nodejs.org/api/stream.html', name: 'Streams', about: 'A stream is a sequence' }];
  const source = await webServer((request, response) => {
    const isAsked = request.url?.includes('node') ?? false;
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ found: isAsked ? found : [] }));
  });
  const baseUrl = await startSearx(source.url);
  const { engines } = openEngines({ provider: [{ type: 'searxng', baseUrl }] }, {}, { timeoutMs: 60_000 });
  const tool = new WebSearchTool({ engines, secrets: [] });
  const { returnDisplay, llmContent } = await tool.execute({ query: 'node & "streams" ü' }, never);
  expect(source.requests[0]?.path).toBe('/?q=node+%26+%22streams%22+%C3%BC');
  expect(returnDisplay).toBe('1 results from searxng\n1. Streams: https://nodejs.org/api/stream.html');
  expect(textOf(llmContent)).toContain('A stream is a sequence');
  const nothing = await tool.execute({ query: 'something else' }, never);
  expect(textOf(nothing.llmContent)).toMatch(/no results/i);
});
