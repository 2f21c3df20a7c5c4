import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { modelServer } from '../../../../../testing/model-server.js';
import { selfSigned } from '../../../../../testing/self-signed.js';
import { ModelError } from '../model-error.js';
import { defaultLimits, readText, sendRequest } from './http.js';
import { proxyFor } from './proxy-settings.js';

const signal = new AbortController().signal;

async function listen(server: TcpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const send = (url: string, proxy?: string) =>
  sendRequest({
    url: new URL(url),
    headers: {},
    body: '{}',
    signal,
    limits: defaultLimits,
    proxy: proxy ? new URL(proxy) : undefined,
  });

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => error,
  );

// RN11
test('a kept connection that the server drops just as it is used is replaced silently', async () => {
  const requests: number[] = [];
  const server = createTcpServer((socket) => {
    const connection = requests.push(0) - 1;
    socket.on('error', () => {});
    socket.on('data', () => {
      requests[connection] = (requests[connection] ?? 0) + 1;
      if (requests[connection] > 1) socket.resetAndDestroy();
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\nok');
    });
  });
  const host = await listen(server);
  expect(await readText((await send(`http://${host}/`)).body, 10)).toBe('ok');
  expect(await readText((await send(`http://${host}/`)).body, 10)).toBe('ok');
  expect(requests[0]).toBe(2);
  expect(requests).toHaveLength(2);
});

// RN09
test('an answer shorter than its length is an error', async () => {
  const host = await listen(
    createTcpServer((socket) =>
      socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'),
    ),
  );
  const response = await send(`http://${host}/`);
  expect(await failure(readText(response.body, 1000))).toMatchObject({ kind: 'network' });
});

test('bytes that are not HTTP are an error, and so is TLS with a server without it', async () => {
  const host = await listen(createTcpServer((socket) => socket.on('error', () => {}).end('hello\r\n\r\n')));
  expect(await failure(send(`http://${host}/`))).toBeInstanceOf(ModelError);
  expect(await failure(send(`https://${host}/`))).toMatchObject({ kind: 'tls' });
});

// RN10
test('an untrusted certificate is rejected, whatever the request', async () => {
  const received: string[] = [];
  const server = createSecureServer(selfSigned, (request, response) => {
    received.push(request.url ?? '');
    response.end('ok');
  });
  const error = await failure(send(`https://${await listen(server)}/`));
  expect(error).toMatchObject({ kind: 'tls', isTransient: false });
  expect(String(error)).toMatch(/NODE_EXTRA_CA_CERTS/);
  expect(received).toEqual([]);
});

// RN10
test('a handshake cut in the middle is an error', async () => {
  const host = await listen(
    createTcpServer((socket) => socket.on('error', () => {}).on('data', () => socket.destroy())),
  );
  expect(await failure(send(`https://${host}/`))).toBeInstanceOf(ModelError);
});

// RN01
test('the error names a host that does not exist', async () => {
  const error = await failure(send('http://does-not-exist.invalid/'));
  expect(String(error)).toMatch(/could not be resolved/);
});

test('a proxy carries the request in a tunnel', async () => {
  const target = await modelServer([{ text: 'through' }]);
  const seen: string[] = [];
  const proxy = createServer();
  proxy.on('connect', (request, socket) => {
    seen.push(request.url ?? '', request.headers['proxy-authorization'] ?? '');
    const upstream = connect(Number(new URL(target.url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  const host = await listen(proxy);
  const response = await send(`${target.url}/v1/chat/completions`, `http://me:pw@${host}`);
  expect(await readText(response.body, 10_000)).toContain('throu');
  expect(seen).toEqual([new URL(target.url).host, `Basic ${Buffer.from('me:pw').toString('base64')}`]);
});

// RN10
test('the error says that a proxy needs a password', async () => {
  const proxy = createServer();
  proxy.on('connect', (_request, socket) => void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'));
  const error = await failure(send('http://model.invalid/', `http://${await listen(proxy)}`));
  expect(error).toMatchObject({ status: 407, isTransient: false });
});

test.each([
  ['https://api.example.com', { HTTPS_PROXY: 'http://p:1' }, 'http://p:1/'],
  ['https://api.example.com', { https_proxy: 'p:1' }, 'http://p:1/'],
  ['http://api.example.com', { HTTPS_PROXY: 'http://p:1' }, undefined],
  ['https://api.example.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'other,.example.com' }, undefined],
  ['https://127.0.0.1:8080', { HTTPS_PROXY: 'http://p:1' }, undefined],
  ['https://localhost', { ALL_PROXY: 'http://p:1' }, undefined],
])('%s with %j goes through %s', (url, env, proxy) => {
  expect(proxyFor(new URL(url), env)?.href).toBe(proxy);
});
