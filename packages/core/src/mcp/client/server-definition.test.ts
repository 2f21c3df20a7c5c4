import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { loadSettings } from '../../settings/load-settings.js';
import { serverDefinitions } from './server-definition.js';

async function definitions(
  { user = {}, project = {} }: { user?: object; project?: object },
  { isTrusted = true, env = {} }: { isTrusted?: boolean; env?: Record<string, string> } = {},
) {
  const [home, root] = [tempDirectory(), tempDirectory()];
  for (const [folder, settings] of [
    [join(home, '.lathe'), user],
    [join(root, '.lathe'), project],
  ] as const) {
    mkdirSync(folder);
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
  }
  const loaded = await loadSettings({
    home,
    latheHome: join(home, '.lathe'),
    root,
    isTrusted,
    env,
    systemFile: '/nowhere',
  });
  return { ...serverDefinitions(loaded, { root, home, reserved: new Set(['read_file']) }), home, root };
}

test('SG20: every kind of endpoint is parsed', async () => {
  const { servers, root } = await definitions({
    user: {
      mcpServers: {
        local: { command: 'node', args: ['a b', '$(x)'], env: { A: '1' }, cwd: 'sub', timeout: 5, trust: true },
        web: { httpUrl: 'https://example.com/mcp', url: 'https://example.com/sse', headers: { X: 'y' } },
        old: { url: 'https://example.com/sse' },
        typed: { url: 'https://example.com/mcp', type: 'http', includeTools: ['a(x)', 'b'], excludeTools: ['c'] },
      },
      mcp: { mcpServerCommand: `node 'my server.js' --flag` },
    },
  });
  expect(servers.map(({ name, endpoint }) => [name, endpoint])).toEqual([
    ['local', { type: 'stdio', argv: ['node', 'a b', '$(x)'], cwd: join(root, 'sub'), env: { A: '1' } }],
    ['web', { type: 'http', url: new URL('https://example.com/mcp'), headers: { X: 'y' } }],
    ['old', { type: 'sse', url: new URL('https://example.com/sse'), headers: {} }],
    ['typed', { type: 'http', url: new URL('https://example.com/mcp'), headers: {} }],
    ['mcp', { type: 'stdio', argv: ['node', 'my server.js', '--flag'], cwd: root, env: {} }],
  ]);
  expect(servers[0]).toMatchObject({ timeoutMs: 5, isTrusted: true, isProjects: false });
  expect(servers[3]).toMatchObject({ include: ['a', 'b'], exclude: ['c'] });
});

test.each([
  [{}, 'neither command'],
  [{ httpUrl: 'ftp://example.com' }, 'not a web address'],
  [{ httpUrl: 'javascript:alert(1)' }, 'not a web address'],
  [{ httpUrl: 'https://me:secret@example.com' }, 'holds a password'],
  [{ tcp: 'localhost:1' }, 'only stdio'],
  [{ command: 'x', authProviderType: 'google_credentials' }, 'not supported'],
])('%j is rejected with a reason', async (server, reason) => {
  const { servers, unusable } = await definitions({ user: { mcpServers: { bad: server } } });
  expect(servers).toEqual([]);
  expect(unusable).toMatchObject([{ name: 'bad', problem: expect.stringContaining(reason) }]);
});

test('servers can be allowed and excluded by pattern', async () => {
  const mcpServers = { a1: { command: 'x' }, a2: { command: 'x' }, b: { command: 'x' } };
  const { servers } = await definitions({ user: { mcpServers, mcp: { allowed: ['a*'], excluded: ['?2'] } } });
  expect(servers.map(({ name }) => name)).toEqual(['a1']);
});

test('servers of a folder count only when it is trusted, and are marked as those of the project', async () => {
  const project = { mcpServers: { theirs: { command: 'x', trust: true } } };
  const user = { mcpServers: { mine: { command: 'x', trust: true } } };
  const trusted = await definitions({ user, project });
  expect(trusted.servers.map(({ name, isProjects }) => [name, isProjects])).toEqual([
    ['mine', false],
    ['theirs', true],
  ]);
  const untrusted = await definitions({ user, project }, { isTrusted: false });
  expect(untrusted.servers).toMatchObject([{ name: 'mine', isTrusted: false, endpoint: { cwd: untrusted.home } }]);
});

test('a server named like a built-in tool gets another alias', async () => {
  const { servers } = await definitions({ user: { mcpServers: { read_file: { command: 'x' } } } });
  expect(servers[0]?.alias).toMatch(/^read_file_[0-9a-f]{6}$/);
});
