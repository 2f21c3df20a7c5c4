import { execFile } from 'node:child_process';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { bundleChild } from '../../../../../testing/bundle.js';
import { selfSigned } from '../../../../../testing/self-signed.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { never, page, rawServer, webServer } from '../../../../../testing/web-server.js';
import { acceptedCodings } from './decode-body.js';
import { checkResolvable } from './guarded-agent.js';
import { GuardedHttp, type GuardedHttpOptions } from './guarded-http.js';

const { brotliCompressSync, deflateSync, gzipSync } = zlib;

/** Loopback is open, but for what a test closes again. */
function httpWith(options: GuardedHttpOptions = {}): GuardedHttp {
  const http = new GuardedHttp({ isOpen: () => true, timeoutMs: 10_000, ...options });
  onTestFinished(() => http.close());
  return http;
}

async function fetchText(url: string, options: GuardedHttpOptions = {}, signal = never): Promise<string> {
  const answer = await httpWith(options).send({ url: new URL(url) }, signal);
  if (answer.type === 'redirect') return `redirect to ${answer.to.href}`;
  return `${answer.status} ${answer.body.bytes.toString('latin1')}${answer.body.isCut ? ' (cut)' : ''}`;
}

const refused = { type: 'permission_denied' };
const failed = { type: 'web_fetch_fallback_failed' };

// SI01
test('without a rule, no server on this machine is reached', async () => {
  const { url, port, requests } = await webServer(page('secret'));
  for (const host of ['127.0.0.1', 'localhost', '127.1', '0.0.0.0', '[::ffff:127.0.0.1]'])
    await expect(fetchText(`http://${host}:${port}/`, { isOpen: () => false })).rejects.toMatchObject(refused);
  expect(requests).toEqual([]);
  expect(await fetchText(url)).toBe('200 secret');
});

// SI15
test('a rule opens its port and no other', async () => {
  const [open, closed] = [await webServer(page('open')), await webServer(page('closed'))];
  const isOpen = (host: string, port: number) => host === 'localhost' && port === open.port;
  expect(await fetchText(`http://localhost:${open.port}/`, { isOpen })).toBe('200 open');
  await expect(fetchText(`http://localhost:${closed.port}/`, { isOpen })).rejects.toMatchObject(refused);
  await expect(fetchText(`http://127.0.0.1:${open.port}/`, { isOpen })).rejects.toMatchObject(refused);
});

test.each([301, 302, 303, 307, 308])('a redirect with status %i on the same host is followed', async (status) => {
  const { url } = await webServer((request, response) => {
    if (request.url === '/end') response.end('there');
    else response.writeHead(status, { location: '/end' }).end('not this');
  });
  expect(await fetchText(`${url}/start`)).toBe('200 there');
});

/** Fifty chains: 0 to 9 hops on the same host, and then each of five ends. */
const chains = Array.from({ length: 10 }, (_, hops) => hops).flatMap((hops) =>
  (['page', 'other host', 'private', 'file', 'user'] as const).map((end) => [hops, end] as const),
);
const chainEnds = {
  page: undefined,
  'other host': 'http://elsewhere.example/',
  private: 'http://169.254.169.254/latest/meta-data/',
  file: 'file:///etc/passwd',
  user: 'http://user:pw@elsewhere.example/',
};

// SI04
test.each(chains)('after %i redirects to %s every hop is checked and at most five are followed', async (hops, end) => {
  const { url, requests } = await webServer((request, response) => {
    const hop = Number(request.url?.slice(1));
    const location = hop < hops ? `/${hop + 1}` : chainEnds[end];
    if (location === undefined) response.end('done');
    else response.writeHead(302, { location }).end();
  });
  const outcome = fetchText(`${url}/0`);
  if (hops > 5)
    await expect(outcome).rejects.toMatchObject({
      ...failed,
      message: expect.stringContaining('redirects more than 5 times'),
    });
  else if (end === 'page') expect(await outcome).toBe('200 done');
  else if (end === 'other host') expect(await outcome).toBe('redirect to http://elsewhere.example/');
  else await expect(outcome).rejects.toMatchObject(refused);
  expect(requests.length).toBe(Math.min(hops, 5) + 1);
});

test('a redirect to another port or scheme counts as another host', async () => {
  const other = await webServer(page('other'));
  const { url } = await webServer((_request, response) => response.writeHead(302, { location: other.url }).end());
  expect(await fetchText(url)).toBe(`redirect to ${other.url}/`);
  expect(other.requests).toEqual([]);
});

// SI04
test('redirect loops end, and a refresh in the page is ignored', async () => {
  const loop = await webServer((_request, response) => response.writeHead(302, { location: '/' }).end());
  await expect(fetchText(loop.url)).rejects.toMatchObject(failed);
  const refresh = await webServer(page('<meta http-equiv="refresh" content="0;url=/next">'));
  await fetchText(refresh.url);
  expect(refresh.requests).toHaveLength(1);
});

const bytes = Buffer.from('some text '.repeat(1000));
test.each([
  ['gzip', gzipSync(bytes)],
  ['x-gzip', gzipSync(bytes)],
  ['deflate', deflateSync(bytes)],
  ['br', brotliCompressSync(bytes)],
  ['gzip, br', brotliCompressSync(gzipSync(bytes))],
  ['identity', bytes],
])('a body in %s is decompressed', async (coding, body) => {
  const { url } = await webServer((_request, response) =>
    response.writeHead(200, { 'content-encoding': coding }).end(body),
  );
  expect(await fetchText(url)).toBe(`200 ${bytes.toString()}`);
});

const zeros = Buffer.alloc(30_000_000);
const hasZstd = acceptedCodings.includes('zstd');

/** What is kept of a bomb, and whether the process grew by less than 64 MB meanwhile. */
async function explode(coding: string, bomb: Buffer) {
  const { url } = await webServer((_request, response) =>
    response.writeHead(200, { 'content-encoding': coding }).end(bomb),
  );
  const before = process.memoryUsage.rss();
  const answer = await httpWith().send({ url: new URL(url) }, never);
  const isSmall = process.memoryUsage.rss() - before < 64_000_000;
  return answer.type === 'page' && { length: answer.body.bytes.length, isCut: answer.body.isCut, isSmall };
}
const defused = { length: 10_000_000, isCut: true, isSmall: true };

// SI09
test.each([
  ['gzip', () => gzipSync(zeros)],
  ['br', () => brotliCompressSync(zeros, { params: { 1: 4 } })],
  ['gzip, gzip', () => gzipSync(gzipSync(zeros))],
])('a decompression bomb in %s is cut at the limit', async (coding, make) => {
  expect(await explode(coding, make())).toEqual(defused);
});

// SI09
test.skipIf(!hasZstd)('a decompression bomb in zstd is cut at the limit', async () => {
  const compress: (bytes: Buffer) => Buffer = Reflect.get(zlib, 'zstdCompressSync');
  expect(await explode('zstd', compress(zeros))).toEqual(defused);
});

test.each([
  ['gzip, gzip, gzip', 'compressed 3 times'],
  [Array(1000).fill('gzip').join(', '), 'compressed 1000 times'],
  ['rot13', 'unknown content coding "rot13"'],
  ['constructor', 'unknown content coding'],
])('the codings %.20s are rejected', async (coding, message) => {
  const { url } = await webServer((_request, response) =>
    response.writeHead(200, { 'content-encoding': coding }).end('x'),
  );
  await expect(fetchText(url)).rejects.toMatchObject({ ...failed, message: expect.stringContaining(message) });
});

// SI09
test.skipIf(hasZstd)('a body in zstd is rejected by name if Node cannot decode it', async () => {
  const { url } = await webServer((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'zstd' }).end('x'),
  );
  await expect(fetchText(url)).rejects.toMatchObject({
    ...failed,
    message: 'The page has the unknown content coding "zstd".',
  });
});

// SI08
test('an endless body is cut', async () => {
  const { url } = await webServer((_request, response) => {
    const chunk = Buffer.alloc(65_536, 'a');
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
  });
  const said = await fetchText(url, { maxBytes: 1_000_000 });
  expect([said.length, said.slice(-6)]).toEqual([1_000_010, ' (cut)']);
});

// SI08
test('a slow body ends with the timeout of the request', async () => {
  const { url } = await webServer((_request, response) => {
    const timer = setInterval(() => response.write('a'), 50);
    response.on('close', () => clearInterval(timer));
  });
  await expect(fetchText(url, { timeoutMs: 500 })).rejects.toMatchObject({
    ...failed,
    message: '127.0.0.1 did not finish answering within 0.5 s.',
  });
});

test('a server that accepts and sends nothing ends with the timeout of the request', async () => {
  const { url } = await rawServer(() => {});
  await expect(fetchText(url, { timeoutMs: 300 })).rejects.toMatchObject(failed);
});

test.each([
  ['a length that is too long', 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nshort'],
  ['a chunk that never ends', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nshort'],
  ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['headers without end', `HTTP/1.1 200 OK\r\n${'x-filler: 0123456789\r\n'.repeat(5000)}`],
  [
    'half a gzip',
    Buffer.concat([
      Buffer.from('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n'),
      gzipSync(bytes).subarray(0, 40),
    ]),
  ],
  ['nothing', ''],
])('a response with %s is an error, not a page', async (_what, answer) => {
  const { url } = await rawServer((socket) => socket.end(answer));
  await expect(fetchText(url)).rejects.toMatchObject(failed);
});

test('a body longer than its content-length is cut there', async () => {
  const { url } = await rawServer((socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello and more'),
  );
  expect(await fetchText(url)).toBe('200 hello');
});

test('the caller can stop a request', async () => {
  const { url } = await rawServer(() => {});
  const controller = new AbortController();
  const outcome = fetchText(url, {}, controller.signal);
  controller.abort(new Error('enough'));
  await expect(outcome).rejects.toThrow('enough');
});

// SI12
test('an untrusted certificate is rejected, whatever the environment sets', async () => {
  const server = createTlsServer(selfSigned, (_request, response) => response.end('secret'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  onTestFinished(() => {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    server.close();
  });
  await expect(fetchText(`https://localhost:${(server.address() as AddressInfo).port}/`)).rejects.toMatchObject({
    ...failed,
    message: expect.stringContaining('certificate'),
  });
});

// SI12
test('NODE_EXTRA_CA_CERTS counts only if it was set at the start', async () => {
  const child = await bundleChild('extra-authority');
  const file = join(tempDirectory({ 'ca.pem': selfSigned.cert }), 'ca.pem');
  const fetched = async (env: Record<string, string>) =>
    (await promisify(execFile)(process.execPath, [child, file], { env })).stdout;
  expect(await fetched({})).toMatch(/certificate/);
  expect(await fetched({ NODE_EXTRA_CA_CERTS: file })).toBe('200');
});

// SI17
test('too many requests to one host are rejected, not queued', async () => {
  const { url, requests } = await webServer(page('ok'));
  const http = httpWith({ requestsPerMinute: 5 });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 1000 }, () => http.send({ url: new URL(url) }, never)),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  expect(requests).toHaveLength(5);
});

test('an unknown host name is reported', async () => {
  await expect(fetchText('http://no-such-host.invalid/')).rejects.toMatchObject(failed);
});

test('the timeout of a request covers the DNS lookup before a proxy is used', async () => {
  const controller = new AbortController();
  const outcome = checkResolvable(new URL('http://slow.invalid/'), () => false, controller.signal);
  controller.abort(new Error('enough'));
  await expect(outcome).rejects.toThrow('enough');
});

test('a proxy is used, gets no private hosts, and is not used for hosts in no_proxy', async () => {
  const site = await webServer(page('through'));
  const seen: string[] = [];
  const { createServer } = await import('node:http');
  const tunnel = createServer().on('connect', (request, socket) => {
    seen.push(request.url ?? '');
    const out = connect(site.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      out.pipe(socket).pipe(out);
    });
    socket.on('error', () => {});
    out.on('error', () => {});
  });
  await new Promise<void>((resolve) => tunnel.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    tunnel.closeAllConnections();
    tunnel.close();
  });
  const address = `http://127.0.0.1:${(tunnel.address() as AddressInfo).port}`;
  const env = { HTTP_PROXY: address, no_proxy: 'direct.invalid' };
  const options: GuardedHttpOptions = { isOpen: () => false, proxy: { env } };
  expect(await fetchText('http://site.invalid/', options)).toBe('200 through');
  expect(seen).toEqual(['site.invalid:80']);
  await expect(fetchText('http://127.0.0.1/', options)).rejects.toMatchObject(refused);
  await expect(fetchText('http://localhost/', options)).rejects.toMatchObject(refused);
  await expect(fetchText('http://direct.invalid/', options)).rejects.toMatchObject(failed);
  expect(seen).toHaveLength(1);
});

test.each([
  [
    'refuses',
    'HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n',
    /^The proxy 127\.0\.0\.1:\d+ does not connect to site\.invalid \(status 403\)\.$/,
  ],
  [
    'says nothing',
    '',
    /^site\.invalid did not finish answering within 0\.5 s \(through the proxy 127\.0\.0\.1:\d+\)\.$/,
  ],
])('a proxy that %s is named, within the timeout', async (_, answer, message) => {
  const { createServer } = await import('node:net');
  const proxy = createServer((socket) => {
    socket.on('error', () => {}).on('data', () => socket.write(answer));
    onTestFinished(() => void socket.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  const env = { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
  const options: GuardedHttpOptions = { isOpen: () => false, proxy: { env }, timeoutMs: 500 };
  await expect(fetchText('https://site.invalid/', options)).rejects.toThrow(message);
});
