import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { selfSigned } from '../../../../testing/self-signed.js';
import { tarOf } from '../../../../testing/tar.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { fetchPlugin, parseSource } from './fetch-plugin.js';

const { signal } = new AbortController();
const env = { PATH: process.env['PATH'], HOME: '/nonexistent' };
const portOf = (server: Server) => (server.address() as AddressInfo).port;
const parse = (text: string, cwd = '/') => parseSource(text, (path) => join(cwd, path));

function repository(files: Record<string, string>): string {
  const root = tempDirectory(files);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root, env, stdio: 'ignore' });
  git('init', '-b', 'main');
  git('add', '-A');
  git('commit', '-m', 'x');
  return root;
}

test.each([
  '--upload-pack=touch canary',
  '-u touch',
  'ext::sh -c touch% canary',
  'ext::/bin/true',
  'fd::7',
  'http://example.com/a.git',
  'git://example.com/a.git',
  'ftp://example.com/a.tgz',
  'https://example.com/a.git#--upload-pack=x',
  'https://example.com/a.git#-x',
  '/nowhere',
])('%s is not a source', async (text) => {
  await expect(parse(text, tempDirectory())).rejects.toThrow(/is (?:neither a folder|not a branch)/);
});

test.each([
  ['https://example.com/a', { type: 'git', url: 'https://example.com/a' }],
  ['https://example.com/a.git#v1.0', { type: 'git', url: 'https://example.com/a.git', ref: 'v1.0' }],
  [
    'https://example.com/a#main:plugins/b',
    { type: 'git', url: 'https://example.com/a', ref: 'main', folder: 'plugins/b' },
  ],
  ['git@example.com:a/b.git', { type: 'git', url: 'git@example.com:a/b.git' }],
  ['https://example.com/a.tgz', { type: 'address', url: 'https://example.com/a.tgz' }],
])('%s is a source', async (text, source) => {
  expect(await parse(text)).toEqual(source);
});

test('a repository is read without running anything: no hook, no filter, no setting of its own', async () => {
  const home = tempDirectory();
  const canary = join(home, 'canary');
  // The filter is the person's own, and the repository asks for it.
  writeFileSync(join(home, '.gitconfig'), `[filter "evil"]\n\tsmudge = touch ${canary}\n\tprocess = touch ${canary}\n`);
  const root = repository({
    'plugin.json': '{}',
    '.gitattributes': '*.json filter=evil\n',
    'sub/p/plugin.json': '{"a":1}',
  });
  mkdirSync(join(root, '.git/hooks'), { recursive: true });
  for (const hook of ['post-checkout', 'pre-upload-pack', 'post-update'])
    writeFileSync(join(root, '.git/hooks', hook), `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 });
  const files = await fetchPlugin({ type: 'git', url: `file://${root}` }, { ...env, HOME: home }, signal);
  expect([...files.keys()].sort()).toEqual(['.gitattributes', 'plugin.json', 'sub/p/plugin.json']);
  const part = { type: 'git', url: `file://${root}`, ref: 'main', folder: 'sub/p' } as const;
  expect([...(await fetchPlugin(part, env, signal)).keys()]).toEqual(['plugin.json']);
  expect(existsSync(canary)).toBe(false);
});

test('a repository that git would reach by a command is refused by git too', async () => {
  const canary = join(tempDirectory(), 'canary');
  const source = { type: 'git', url: `ext::touch ${canary}` } as const;
  await expect(fetchPlugin(source, env, signal)).rejects.toThrow(/ext.*not allowed/);
  expect(existsSync(canary)).toBe(false);
});

test('a repository with an https address is never fetched over http', async () => {
  const requests: string[] = [];
  const plain = createServer(({ url }, response) => {
    requests.push(String(url));
    response.writeHead(404).end();
  });
  const secure = createSecureServer(selfSigned, ({ url }, response) =>
    response.writeHead(302, { location: `http://127.0.0.1:${portOf(plain)}${url}` }).end(),
  );
  for (const server of [plain, secure]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
  }
  const source = { type: 'git', url: `https://127.0.0.1:${portOf(secure)}/a.git` } as const;
  await expect(fetchPlugin(source, { ...env, GIT_SSL_NO_VERIFY: '1' }, signal)).rejects.toThrow(/http/);
  expect(requests).toEqual([]);
});

test('an archive with an https address is never fetched over http, not even on the way to https', async () => {
  const requests: string[] = [];
  const tar = tarOf([{ name: 'package/plugin.json', content: '{}' }]);
  const plain = createServer(({ url }, response) => {
    requests.push(String(url));
    response.writeHead(302, { location: `https://127.0.0.1:${portOf(secure)}/end.tgz` }).end();
  });
  const secure = createSecureServer(selfSigned, ({ url }, response) => {
    if (url === '/end.tgz') return response.end(tar);
    const location = url === '/moved.tgz' ? '/end.tgz' : `http://127.0.0.1:${portOf(plain)}${url}`;
    return response.writeHead(302, { location: url === '/loop.tgz' ? url : location }).end();
  });
  for (const server of [plain, secure]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
  }
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const from = (name: string) =>
    fetchPlugin({ type: 'address', url: `https://127.0.0.1:${portOf(secure)}/${name}.tgz` }, env, signal);
  await expect(from('http')).rejects.toThrow('not https');
  expect(requests).toEqual([]);
  expect([...(await from('moved')).keys()]).toEqual(['plugin.json']);
  await expect(from('loop')).rejects.toThrow('too often');
});

test('an archive comes over http from this machine, up to a limit', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/endless.tgz') {
      response.on('close', () => clearInterval(timer));
      const timer = setInterval(() => response.write(Buffer.alloc(8 << 20)), 1);
    } else response.end(tarOf([{ name: 'package/plugin.json', content: '{}' }]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${portOf(server)}`;
  const fetched = await fetchPlugin(await parse(`${url}/a.tgz`), env, signal);
  expect([...fetched.keys()]).toEqual(['plugin.json']);
  await expect(fetchPlugin(await parse(`${url}/endless.tgz`), env, signal)).rejects.toThrow('larger than');
});
