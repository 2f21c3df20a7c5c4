import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { badMcpServer } from '../../../../testing/bad-mcp-servers.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createLathe } from './create-lathe.js';
import type { LatheOptions } from './lathe.js';

const never = new AbortController().signal;

async function latheWith(user: object, options: Partial<LatheOptions> = {}) {
  const [home, cwd] = [tempDirectory(), tempDirectory()];
  mkdirSync(join(home, '.lathe'), { mode: 0o700 });
  writeFileSync(join(home, '.lathe', 'settings.json'), JSON.stringify(user), { mode: 0o600 });
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const lathe = await createLathe({ cwd, env, home, latheHome: join(home, '.lathe'), ...options });
  onTestFinished(() => lathe.close());
  return lathe;
}

test('only the server that a name points to is started', async () => {
  const server = (fault: string) => ({ command: process.execPath, args: [badMcpServer, fault] });
  const lathe = await latheWith({
    mcpServers: { one: { ...server('none'), trust: true }, two: server('none') },
    permissions: { allow: ['one__echo'] },
  });
  expect(await lathe.discover(never, 'read_file')).toEqual(new Map());
  expect(lathe.host.sources.servers.map(({ client }) => client.state.status)).toEqual(['idle', 'idle']);
  expect((await lathe.discover(never, 'one__echo')).size).toBe(0);
  expect(lathe.host.sources.servers.map(({ client }) => client.state.status)).toEqual(['ready', 'idle']);
  const [outcome] = await lathe.run([{ id: '1', name: 'one__echo', args: {} }], never);
  expect(outcome).toMatchObject({ status: 'success', llmContent: 'ok' });
});

test('a hundred configured servers, half of them broken, do not hold up the start', async () => {
  const mcpServers = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [
      `s${index}`,
      { command: index % 2 === 0 ? '/no/such/program' : process.execPath, args: [badMcpServer, 'none'] },
    ]),
  );
  const time = async (user: object) => {
    const start = performance.now();
    await latheWith(user);
    return performance.now() - start;
  };
  await time({});
  const without = await time({});
  const withServers = await time({ mcpServers });
  expect(withServers - without).toBeLessThan(300);
});

test.skipIf(!hasProgram('bwrap'))('a server runs in the sandbox when one is required', async () => {
  const cwd = tempDirectory({ 'bad-mcp-server.mjs': readFileSync(badMcpServer) });
  const lathe = await latheWith(
    {
      mcpServers: {
        boxed: { command: process.execPath, args: [join(cwd, 'bad-mcp-server.mjs'), 'namespace'], trust: true },
      },
      tools: { sandbox: { mode: 'required' } },
    },
    { cwd, isTrusted: true },
  );
  expect([...(await lathe.discover(never)).values()]).toEqual([]);
  const [outcome] = await lathe.run([{ id: '1', name: 'boxed__echo', args: {} }], never);
  expect(outcome?.status).toBe('success');
  expect(outcome?.llmContent).not.toBe(readlinkSync('/proc/self/ns/pid'));
});

test.each([
  ['lacks a command', { toolDiscoveryCommand: 'echo []' }],
  ['has a quote too few', { toolDiscoveryCommand: "echo '[]", toolCallCommand: 'x' }],
])('a project whose discovery %s is asked about everything else', async (_title, tools) => {
  const cwd = tempDirectory({
    '.lathe/settings.json': JSON.stringify({ tools, mcpServers: { s: { command: 'server' } } }),
  });
  const lathe = await latheWith({}, { cwd, isTrusted: true });
  expect(lathe.host.sources.consents().map(({ kind }) => kind)).toEqual(['mcp-server']);
  expect(String((await lathe.discover(never)).get('discovery command'))).toMatch(
    /toolCallCommand is not set|not closed/,
  );
});
