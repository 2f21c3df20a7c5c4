import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createLathe } from './create-lathe.js';
import type { LatheOptions } from './lathe.js';

const never = new AbortController().signal;

/** A server that lists the tools named in the file `tools`. It answers only while the file `gate` exists, and counts its starts. */
const server = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const answers = {
  initialize: ({ protocolVersion }) =>
    ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }),
  'tools/list': () => ({
    tools: readFileSync('tools', 'utf8').split(' ').map((name) => ({ name, inputSchema: { type: 'object' } })),
  }),
  'tools/call': ({ name }) => ({ content: [{ type: 'text', text: 'hello from ' + name }] }),
};
appendFileSync('starts', 'x');
const answer = (line) => {
  if (!existsSync('gate')) return setTimeout(answer, 5, line);
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }));
};
createInterface({ input: process.stdin }).on('line', answer);
`;

/** Sessions of a user with one server. */
function sessionsWithServer() {
  const [home, cwd] = [tempDirectory(), tempDirectory({ 'server.mjs': server, tools: 'greet', gate: '' })];
  const latheHome = join(home, '.lathe');
  const definition = (...args: string[]) => ({ s: { command: process.execPath, args: ['server.mjs', ...args], cwd } });
  const write = (settings: object) =>
    writeFileSync(join(latheHome, 'settings.json'), JSON.stringify(settings), { mode: 0o600 });
  mkdirSync(latheHome, { mode: 0o700 });
  write({ mcpServers: definition() });
  const open = async (options: Partial<LatheOptions> = {}) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: home };
    const lathe = await createLathe({ cwd, env, home, latheHome, flags: { 'tools.allowed': ['s__*'] }, ...options });
    onTestFinished(() => lathe.close());
    const names = () => lathe.tools.getAllTools().flatMap(({ name }) => (name.startsWith('s__') ? [name] : []));
    const call = async (name: string) => (await lathe.run([{ id: '1', name, args: {} }], never))[0];
    return { names, call, prepare: () => lathe.host.sources.prepare(never), close: () => lathe.close() };
  };
  const runOnce = async (options?: Partial<LatheOptions>) => {
    const session = await open(options);
    await session.prepare();
    expect(session.names()).toEqual(['s__greet']);
    await session.close();
  };
  return { cwd, latheHome, definition, write, open, runOnce };
}

test('a session offers the tools of a server that it knows before the server answers', async () => {
  const { cwd, open, runOnce } = sessionsWithServer();
  await runOnce();
  rmSync(join(cwd, 'gate'));
  const { prepare, names, call } = await open();
  const { failures, later } = await prepare();
  expect([failures, names()]).toEqual([new Map(), ['s__greet']]);
  const outcome = call('s__greet');
  writeFileSync(join(cwd, 'gate'), '');
  expect(await later).toEqual(new Map());
  expect(await outcome).toMatchObject({ status: 'success', llmContent: 'hello from greet' });
});

test('the list of the running server replaces the one that was known', async () => {
  const { cwd, open, runOnce } = sessionsWithServer();
  await runOnce();
  writeFileSync(join(cwd, 'tools'), 'salute wave');
  const { prepare, names, call } = await open();
  const { later } = await prepare();
  expect(names()).toEqual(['s__greet']);
  await expect(call('s__greet')).resolves.toMatchObject({ status: 'error', error: { type: 'execution_failed' } });
  await later;
  expect(names()).toEqual(['s__salute', 's__wave']);
});

test('a known server that no longer starts is reported later', async () => {
  const { cwd, open, runOnce } = sessionsWithServer();
  await runOnce();
  writeFileSync(join(cwd, 'server.mjs'), 'process.exit(3)');
  const { prepare, call } = await open();
  const { failures, later } = await prepare();
  expect([...failures.keys()]).toEqual([]);
  expect([...(await later).keys()]).toEqual(['MCP server s']);
  expect(await call('s__greet')).toMatchObject({ status: 'error', error: { type: 'mcp_tool_error' } });
});

test('a session that ends at once starts no server that it knows, and reports no failure', async () => {
  const { cwd, open, runOnce } = sessionsWithServer();
  await runOnce();
  const { prepare, close } = await open();
  const { later } = await prepare();
  await close();
  expect(await later).toEqual(new Map());
  expect(readFileSync(join(cwd, 'starts'), 'utf8')).toBe('x');
});

test('a session that ends before its servers answer reports no failure', async () => {
  const { cwd, open, runOnce } = sessionsWithServer();
  await runOnce();
  rmSync(join(cwd, 'gate'));
  const { prepare, close } = await open();
  const { later } = await prepare();
  await expect.poll(() => readFileSync(join(cwd, 'starts'), 'utf8')).toBe('xx');
  await close();
  expect(await later).toEqual(new Map());
});

test('a server with another definition is not known', async () => {
  const { cwd, definition, write, open, runOnce } = sessionsWithServer();
  await runOnce();
  write({ mcpServers: definition('changed') });
  writeFileSync(join(cwd, 'tools'), 'wave');
  const { prepare, names } = await open();
  await prepare();
  expect(names()).toEqual(['s__wave']);
});

test('a server that needs agreement is known only while the person agrees to it', async () => {
  const { latheHome, definition, write, open, runOnce } = sessionsWithServer();
  write({});
  const servers = definition();
  await runOnce({ servers, approver: { decide: async () => ({ outcome: 'once' }) } });
  rmSync(join(latheHome, 'approvals.json'));
  const { prepare, names } = await open({ servers });
  const { failures } = await prepare();
  expect([names(), [...failures.keys()]]).toEqual([[], ['MCP server s']]);
});

test('tools are remembered in a private file', async () => {
  const { latheHome, runOnce } = sessionsWithServer();
  await runOnce();
  expect(statSync(join(latheHome, 'server-tools.json')).mode & 0o777).toBe(0o600);
});
