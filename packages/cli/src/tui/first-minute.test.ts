import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildProgram } from '../../../../testing/lathe-program.js';
import { modelServer, type ServerRequest } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { isRestored, terminal, think } from '../../../../testing/terminal.js';
import { webServer } from '../../../../testing/web-server.js';

beforeAll(buildProgram, 300_000);

/** Refuses one host and says nothing about any other. */
async function stubbornProxy(): Promise<string> {
  const proxy = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (data) => {
        if (data.includes('CONNECT refused.invalid'))
          socket.write('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
      });
    onTestFinished(() => void socket.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  return `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

const bodyOf = ({ body }: ServerRequest) => JSON.stringify(body);

test.each([
  [120, 40],
  [80, 24],
  [60, 18],
])(
  'the first minute of a Qwen Code user at %d × %d: its keys, CLAUDE.md, /init, a page of this machine, proxies, Ctrl+Z',
  async (columns, rows) => {
    const [site, proxy] = [await webServer((_, response) => response.end('MY DEV SERVER')), await stubbornProxy()];
    const fetch = (url: string) => ({ name: 'web_fetch', args: { url, prompt: 'what is there?' } });
    const pages = [site.url, 'https://refused.invalid/', 'https://silent.invalid/', 'https://other.invalid/'];
    const cwd = tempDirectory({ 'CLAUDE.md': 'Say please.\n' });
    const content = 'Run npm test.\n';
    const write = { name: 'write_file', args: { file_path: join(cwd, 'AGENTS.md'), content } };
    const server = await modelServer([
      { text: 'Please wait.', calls: pages.map(fetch) },
      { text: 'All fetched.' },
      { calls: [write] },
      { text: 'Described.' },
    ]);
    const fast = { id: 'fast', name: 'The fast one', baseUrl: `${server.url}/v1`, envKey: 'FAST_KEY' };
    const auth = { selectedType: 'openai', apiKey: 'key-of-qwen-code', baseUrl: `${server.url}/v1` };
    const own = { env: { FAST_KEY: 'key-of-the-fast-one' }, modelProviders: { openai: [fast] } };
    const qwen = { security: { auth }, model: { name: 'scripted' }, ...own };
    const HOME = tempDirectory({
      '.qwen/settings.json': JSON.stringify(qwen),
      '.lathe/settings.json': JSON.stringify({ web: { timeoutMs: 4000 } }),
    });
    const hosts = [`127.0.0.1:${site.port}`, 'refused.invalid', 'silent.invalid'];
    const allowed = [...hosts.map((host) => `web_fetch(${host})`), 'write_file'].join(',');
    const env = { HOME, HTTPS_PROXY: `http://${proxy}` };
    const place = { cwd, env, columns, rows, isStartedByShell: true };
    const at = terminal(['--yolo', '--allowed-tools', allowed, 'look at them'], place);
    const sees = async (wanted: string | RegExp) => {
      await expect.poll(at.visible, { timeout: 25_000, interval: 30 }).toMatch(wanted);
    };
    const squeezed = () => at.text().replaceAll(/\s+/g, ' ');
    await at.shows('All fetched.');
    const [first, last] = server.requests;
    if (!first || !last) throw new Error('too few requests');
    expect(first.headers.authorization).toBe('Bearer key-of-qwen-code');
    expect(bodyOf(first)).toContain('Say please.');
    for (const told of [
      'MY DEV SERVER',
      `The proxy ${proxy} does not connect to refused.invalid (status 403).`,
      `silent.invalid did not finish answering within 4 s (through the proxy ${proxy}).`,
      'in yolo mode with a list of allowed tools, nothing else may run',
    ])
      expect(bodyOf(last)).toContain(told);
    expect(squeezed()).toContain('refused.invalid (status 403)');

    await sees('Ask for an');
    at.type('/memory\r');
    await sees('CLAUDE.md');
    at.type('/model\r');
    await sees('The fast one');
    at.type('\u001b');
    await sees('Ask for an');
    await think();
    at.type('\u001a');
    await expect.poll(() => isRestored(at.raw()), { timeout: 25_000 }).toBe(true);
    process.kill(at.pid(), 'SIGCONT');
    await expect.poll(() => isRestored(at.raw()), { timeout: 25_000 }).toBe(false);
    await sees('Ask for an');
    at.type('/init\r');
    // No mode allows a file that agents obey.
    await sees('AGENTS.md is configuration');
    await think();
    at.type('y');
    await at.shows('Described.');
    expect(existsSync(join(cwd, 'AGENTS.md'))).toBe(true);
    expect(readFileSync(join(cwd, 'AGENTS.md'), 'utf8')).toBe(content);
    await sees('Ask for an');
    at.type('/quit\r');
    expect(await at.exited()).toBe(0);
  },
  120_000,
);
