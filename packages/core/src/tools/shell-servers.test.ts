import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { textOf } from '../contract/content.js';
import { LatheHome } from '../files/lathe-home.js';
import { Workspace } from '../files/workspace.js';
import { SessionNetwork } from '../process/network/session-network.js';
import { BackgroundCommands } from '../process/run/background.js';
import { announce } from '../process/run/background-command.js';
import { childEnvironment, unattendedVariables } from '../process/run/environment.js';
import { KeptCommands } from '../process/run/kept-commands.js';
import { CommandRunner } from '../process/run/run-command.js';
import { Sandbox } from '../process/sandbox/sandbox.js';
import { ShellTool } from './shell.js';

const never = new AbortController().signal;
const canRun = hasProgram('bwrap') && hasProgram('nsenter') && hasProgram('curl');

async function openShell() {
  const root = tempDirectory();
  const latheHome = new LatheHome(tempDirectory());
  const workspace = await Workspace.open(root);
  const runner = new CommandRunner(latheHome);
  const sandbox = new Sandbox({ mode: 'required', roots: workspace.roots, latheHome, userHome: tempDirectory() });
  const background = new BackgroundCommands(runner, new KeptCommands(latheHome));
  const env = childEnvironment(process.env, { set: unattendedVariables });
  const tool = new ShellTool({ workspace, runner, sandbox, background, env });
  onTestFinished(async () => {
    await background.stopAll();
    await sandbox.close();
  });
  const run = async (command: string, more: object = {}) =>
    textOf((await tool.execute({ command, ...more }, never)).llmContent);
  /** Starts a command in the background and waits for the first port that is opened for it. */
  const serve = async (command: string) => {
    const opened = new Promise<string>((resolve) => {
      background.onPort = (_, { url }) => resolve(url);
    });
    await run(command, { is_background: true });
    return opened;
  };
  return { root, run, serve, sandbox, background };
}

/** A server of the machine that counts its requests. */
async function hostServer(): Promise<{ port: number; requests: () => number; server: Server }> {
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    response.end('a service of the machine');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return { port: address.port, requests: () => requests, server };
}

async function freePort(): Promise<number> {
  const { port, server } = await hostServer();
  server.close();
  return port;
}

/** Answers `/` with a greeting, and any other path with what comes from the address that it names. */
const devServer = (port: number, host = '127.0.0.1') =>
  `exec node -e "require('http').createServer((q, r) => q.url === '/' ? r.end('hello') : fetch('http://' + q.url.slice(1)).then((a) => a.text()).then((t) => r.end(t), (e) => r.end('failed: ' + e.cause.code))).listen(${port}, '${host}')"`;

const get = async (url: string) => (await fetch(url)).text();

test.skipIf(!canRun)(
  'SB02 a server in the background is reached by commands and from outside, and reaches nothing',
  async () => {
    const { run, serve, sandbox, background } = await openShell();
    const [host, port] = [await hostServer(), await freePort()];
    const url = await serve(devServer(port));
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(await get(url)).toBe('hello');
    expect(await run(`curl -sS http://localhost:${port}/`)).toContain('\nOutput: hello\n');
    expect(await run('bg list')).toMatch(`bg_1 running at ${url}: exec node`);

    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const other = own.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '192.0.2.1';
    expect(await get(`${url}/127.0.0.1:${host.port}/`)).toBe('failed: ECONNREFUSED');
    expect(await get(`${url}/${other}:${host.port}/`)).toBe('failed: ENETUNREACH');
    expect(await get(`${url}/example.com/`)).toMatch(/^failed: (EAI_AGAIN|ENOTFOUND)$/);
    const refused = await run(`curl -sS http://localhost:${host.port}/`);
    expect(refused).toContain('Exit Code: 7');
    expect(refused).toContain(
      'localhost reaches background commands of this session only, not services of the machine',
    );
    expect(host.requests()).toBe(0);

    expect(sandbox.hasServers).toBe(true);
    await background.stop('bg_1');
    await expect(get(url)).rejects.toThrow('fetch failed');
    expect(sandbox.hasServers).toBe(false);
  },
);

test.skipIf(!canRun)('two servers in the background reach each other', async () => {
  const { serve, background } = await openShell();
  const [one, other] = [await freePort(), await freePort()];
  await serve(devServer(one));
  const url = await serve(devServer(other, '::1'));
  expect(await get(`${url}/127.0.0.1:${one}/`)).toBe('hello');
  await background.stop('bg_1');
  expect(await get(url)).toBe('hello');
  expect(await get(`${url}/127.0.0.1:${one}/`)).toBe('failed: ECONNREFUSED');
});

test.skipIf(!canRun)(
  'bodies arrive whole over many connections, and a server that restarts is found again',
  async () => {
    const { serve } = await openShell();
    const port = await freePort();
    const server = `require('http').createServer((q, r) => q.url === '/end' ? process.exit() : q.pipe(r)).listen(${port}, '127.0.0.1')`;
    const url = await serve(`while true; do node -e "${server}"; done`);
    const echo = async (body: Buffer) => {
      const response = await fetch(url, { method: 'POST', body: new Uint8Array(body) });
      return Buffer.from(await response.arrayBuffer()).equals(body);
    };
    const bodies = Array.from({ length: 40 }, (_, index) => randomBytes(300_000 + index));
    expect(await Promise.all(bodies.map(echo))).toEqual(bodies.map(() => true));
    await expect(fetch(`${url}/end`)).rejects.toThrow('fetch failed');
    await expect.poll(() => echo(randomBytes(1_000)).catch(() => false), { timeout: 20_000 }).toBe(true);
  },
);

test.skipIf(!canRun)('a client that ends its side first still gets the answer', async () => {
  const { serve } = await openShell();
  const port = await freePort();
  const server = `require('net').createServer({ allowHalfOpen: true }, (s) => { let n = 0; s.on('data', (d) => n += d.length); s.on('end', () => s.end('got ' + n)); }).listen(${port}, '::1')`;
  const { hostname, port: opened } = new URL(await serve(`exec node -e "${server}"`));
  const client = connect({ host: hostname, port: Number(opened), allowHalfOpen: true });
  client.end('twelve bytes');
  const chunks = await client.toArray();
  expect(Buffer.concat(chunks).toString()).toBe('got 12');
});

test.skipIf(!canRun)('a port that is taken on the machine gets another one, which the list names', async () => {
  const { run, serve } = await openShell();
  const host = await hostServer();
  const url = await serve(devServer(host.port));
  expect(url).not.toContain(`:${host.port}`);
  expect(await get(url)).toBe('hello');
  expect(await run('bg list')).toContain(`running at ${url} (port ${host.port} in the sandbox): `);
});

test.skipIf(!canRun)('the port of a command in the foreground stays closed', async () => {
  const { run, root, background } = await openShell();
  const started = await run('sleep 60', { is_background: true });
  expect(started).toContain('the user at 127.0.0.1 once it listens: `bg list` shows the address.');
  const port = await freePort();
  const server = `require('http').createServer().listen(${port}, () => require('fs').writeFileSync('up', ''))`;
  const foreground = run(`timeout 60 node -e "${server}" & until [ -e stop ]; do sleep 0.02; done; kill %1`);
  await vi.waitFor(() => expect(existsSync(join(root, 'up'))).toBe(true), 20_000);
  const { ports } = background.get('bg_1');
  if (typeof ports !== 'object') throw new Error(`no ports: ${ports}`);
  await ports.look();
  expect(ports.list()).toEqual([]);
  await run('touch stop');
  await foreground;
});

test.skipIf(!canRun)('without a background command every command has a network of its own', async () => {
  const { run, sandbox } = await openShell();
  const first = await run('readlink /proc/self/ns/net');
  expect(await run('readlink /proc/self/ns/net')).not.toBe(first);
  expect(sandbox.hasServers).toBe(false);
});

test.skipIf(!canRun || process.getuid?.() !== 0)('root does without a user namespace', async () => {
  const network = new SessionNetwork({
    bubblewrap: '/usr/bin/bwrap',
    nsenter: '/usr/bin/nsenter',
    hasUserNamespace: false,
  });
  onTestFinished(() => network.close());
  expect(await network.open()).toBeUndefined();
  const [program = '', ...args] = network.entry() ?? [];
  const { stdout } = spawnSync(program, [...args, 'readlink', '/proc/self/ns/net'], { encoding: 'utf8' });
  expect(stdout).toMatch(/^net:/);
  expect(stdout.trim()).not.toBe(readlinkSync('/proc/self/ns/net'));
});

test.skipIf(!canRun).each([
  [undefined, 'nsenter (util-linux) is not installed outside the workspace'],
  ['/bin/false', 'the namespaces of another command cannot be entered (/bin/false ended with code 1)'],
])('with %s in place of nsenter the reason is known', async (nsenter, reason) => {
  const network = new SessionNetwork({ bubblewrap: '/usr/bin/bwrap', nsenter, hasUserNamespace: true });
  expect(await network.open()).toBe(reason);
  expect(network.entry()).toBeUndefined();
});

test.skipIf(!canRun)('a command with more rights stays out of reach of the others', async () => {
  const { run } = await openShell();
  const port = await freePort();
  await run('sleep 60', { is_background: true });
  const started = await run(devServer(port), { is_background: true, rights: ['secrets'] });
  expect(started).toContain('nothing outside can reach its ports (it has rights that other commands do not have)');
  const tries = `for i in 1 2 3 4 5 6; do curl -sS http://localhost:${port}/ && exit; sleep 0.2; done`;
  expect(await run(tries)).not.toContain('hello');
});

test('the model learns why ports cannot be reached, and which right it takes', async () => {
  const { background, run } = await openShell();
  await run('sleep 60', { is_background: true, rights: ['network'] });
  const command = { ...background.get('bg_1'), ports: 'there is no nsenter' };
  expect(announce(command, { isIsolated: true })).toContain(
    'nothing outside can reach its ports (there is no nsenter). If that is needed, start it with rights: ["network"]',
  );
});
