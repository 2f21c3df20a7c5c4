import { expect, test } from 'vitest';
import { mcpSchemaId, pluginSchema, pluginSchemaId, serverSchema } from '../../../../testing/agent-plugins-schema.js';
import { describeMismatch } from '../text/schema/json-schema.js';
import { describePlugin } from './describe-plugin.js';
import type { PluginFiles } from './plugin-files.js';
import { readPlugin } from './read-plugin.js';

const place = { root: '/plugins/demo', data: '/data/demo' };
const filesOf = (files: Record<string, unknown>): PluginFiles =>
  new Map(
    Object.entries(files).map(([path, value]) => {
      const content = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
      return [path, { content, isExecutable: false }];
    }),
  );
const fits = (schema: object, value: unknown) => describeMismatch(schema, value) === null;
const loads = (manifest: unknown) => {
  try {
    return readPlugin(filesOf({ 'plugin.json': manifest }), place) !== undefined;
  } catch {
    return false;
  }
};
const withServer = (server: unknown) => {
  const mcp = { $schema: mcpSchemaId, mcpServers: { demo: server } };
  return readPlugin(filesOf({ 'plugin.json': { $schema: pluginSchemaId, name: 'demo' }, 'mcp.json': mcp }), place);
};

const $schema = pluginSchemaId;
const manifests: [title: string, manifest: unknown, isValid: boolean][] = [
  ['the smallest one', { $schema, name: 'demo' }, true],
  [
    'with every field',
    {
      $schema,
      name: 'acme.tools',
      version: '1',
      description: 'd',
      author: { name: 'a', email: 'e', url: 'u' },
      homepage: 'h',
      repository: 'r',
      license: 'l',
      keywords: ['k'],
      extensions: { 'a.b': { c: 1 } },
    },
    true,
  ],
  ['a name of one letter', { $schema, name: 'a' }, true],
  ['the longest name', { $schema, name: 'a'.repeat(64) }, true],
  ['a version that is none', { $schema, name: 'demo', version: 'next week' }, true],
  ['an author without fields', { $schema, name: 'demo', author: {} }, true],
  ['no keywords', { $schema, name: 'demo', keywords: [] }, true],
  ['no schema', { name: 'demo' }, false],
  ['another schema', { $schema: 'https://agent-plugins.org/schemas/9.0.0/plugin.schema.json', name: 'demo' }, false],
  ['no name', { $schema }, false],
  ['an empty name', { $schema, name: '' }, false],
  ['capital letters', { $schema, name: 'Demo' }, false],
  ['a hyphen first', { $schema, name: '-demo' }, false],
  ['a period last', { $schema, name: 'demo.' }, false],
  ['two hyphens', { $schema, name: 'my--demo' }, false],
  ['two periods', { $schema, name: 'my..demo' }, false],
  ['a way out', { $schema, name: '../demo' }, false],
  ['a name that is too long', { $schema, name: 'a'.repeat(65) }, false],
  ['a number as the name', { $schema, name: 1 }, false],
  ['a number as the version', { $schema, name: 'demo', version: 1 }, false],
  ['a text as the author', { $schema, name: 'demo', author: 'a' }, false],
  ['an author with more', { $schema, name: 'demo', author: { name: 'a', phone: '1' } }, false],
  ['keywords as text', { $schema, name: 'demo', keywords: 'a' }, false],
  ['a list', [], false],
  ['a text', '"demo"', false],
];

test.each(manifests)('the schema agrees about a manifest: %s', (_title, manifest, isValid) => {
  const value = typeof manifest === 'string' ? JSON.parse(manifest) : manifest;
  expect({ ours: loads(manifest), theirs: fits(pluginSchema, value) }).toEqual({ ours: isValid, theirs: isValid });
});

const stdio = { type: 'stdio', command: 'node' };
const http = { type: 'streamable-http', url: 'https://example.com/mcp' };
const servers: [title: string, server: unknown, isValid: boolean][] = [
  ['a program', stdio, true],
  ['a program of the plugin', { type: 'stdio', command: './bin/server' }, true],
  ['everything', { ...stdio, args: ['--a'], env: { A: '${PLUGIN_DATA}/a' }, cwd: '${PLUGIN_ROOT}/x' }, true],
  ['the folder for data', { ...stdio, cwd: '${PLUGIN_DATA}' }, true],
  ['an address', http, true],
  ['an address with headers', { ...http, headers: { 'X-A': 'b' } }, true],
  ['the old transport', { type: 'sse', url: 'https://example.com/sse' }, true],
  ['this machine', { type: 'streamable-http', url: 'http://127.0.0.1:3000/mcp' }, true],
  ['no type', { command: 'node' }, false],
  ['another type', { type: 'tcp', command: 'node' }, false],
  ['no command', { type: 'stdio' }, false],
  ['an empty command', { type: 'stdio', command: '' }, false],
  ['an unknown field', { ...stdio, trust: true }, false],
  ['a field of another kind', { ...stdio, url: 'https://example.com' }, false],
  ['arguments as text', { ...stdio, args: '-a' }, false],
  ['a variable of ours', { ...stdio, env: { PLUGIN_ROOT: '/' } }, false],
  ['a number as a variable', { ...stdio, env: { A: 1 } }, false],
  ['an absolute folder', { ...stdio, cwd: '/etc' }, false],
  ['a folder without ./', { ...stdio, cwd: 'data' }, false],
  ['no address', { type: 'sse' }, false],
  ['headers as a list', { ...http, headers: ['a'] }, false],
  ['a text', 'node', false],
];

test.each(servers)('the schema agrees about a server: %s', (_title, server, isValid) => {
  const ours = 'demo' in withServer(server).servers;
  expect({ ours, theirs: fits(serverSchema, server) }).toEqual({ ours: isValid, theirs: isValid });
});

/** The text of the specification is stricter than the schema, and wins. */
test.each<[string, object]>([
  ['a command outside', { type: 'stdio', command: '../bin/server' }],
  ['a command that leads outside', { type: 'stdio', command: './../../bin/sh' }],
  ['an absolute command', { type: 'stdio', command: '/bin/sh' }],
  ['a folder that leads outside', { ...stdio, cwd: '${PLUGIN_ROOT}/../..' }],
  ['data that lead outside', { ...stdio, cwd: '${PLUGIN_DATA}/../../.ssh' }],
  ['http elsewhere', { type: 'sse', url: 'http://example.com' }],
  ['a host that looks like this machine', { type: 'sse', url: 'http://127.0.0.1.example.com' }],
  ['a password', { type: 'sse', url: 'https://a:b@example.com' }],
  ['no web address', { type: 'sse', url: 'file:///etc/passwd' }],
  ['a header twice', { ...http, headers: { 'X-A': '1', 'x-a': '2' } }],
  ['a header with a line break', { ...http, headers: { 'X-A': '1\r\nB: 2' } }],
])('a server with %s is left out and noted', (_title, server) => {
  expect(fits(serverSchema, server)).toBe(true);
  const { servers: used, notes } = withServer(server);
  expect(used).toEqual({});
  expect(notes).toEqual([expect.stringContaining('The server "demo" is not used')]);
});

test('fields that the format does not know are noted and ignored, as the specification asks', () => {
  const { notes } = readPlugin(
    filesOf({ 'plugin.json': { $schema, name: 'demo', displayName: 'D', extensions: 1 } }),
    place,
  );
  expect(notes).toHaveLength(2);
});

test('a wrong mcp.json costs the servers, not the skills', () => {
  const skill = '---\nname: a\ndescription: A.\n---\n';
  const wrong = [
    {},
    { $schema: mcpSchemaId },
    { $schema: mcpSchemaId, mcpServers: {}, more: 1 },
    '{',
    { $schema: 'x', mcpServers: {} },
  ];
  for (const mcp of wrong) {
    const files = filesOf({ 'plugin.json': { $schema, name: 'demo' }, 'mcp.json': mcp, 'skills/a/SKILL.md': skill });
    const plugin = readPlugin(files, place);
    expect({ skills: plugin.skills.length, servers: plugin.servers, notes: plugin.notes.length }).toEqual({
      skills: 1,
      servers: {},
      notes: 1,
    });
  }
});

test('placeholders are filled in once, where the specification says so', () => {
  const server = {
    type: 'stdio',
    command: './run',
    args: ['${PLUGIN_ROOT}/${HOME}', '${PLUGIN_DATA}'],
    env: { A: '${PLUGIN_ROOT}' },
  };
  expect(withServer(server).servers['demo']).toEqual({
    command: '/plugins/demo/run',
    args: ['/plugins/demo/${HOME}', '/data/demo'],
    env: { A: '/plugins/demo', PLUGIN_ROOT: '/plugins/demo', PLUGIN_DATA: '/data/demo' },
    cwd: '/plugins/demo',
  });
});

test('only folders directly below skills/ are skills, and those of others are found where they say', () => {
  const skill = '---\nname: a\ndescription: A.\n---\n';
  const deep = {
    'skills/a/SKILL.md': skill,
    'skills/a/refs/b/SKILL.md': skill,
    'skills/SKILL.md': skill,
    'other/c/SKILL.md': skill,
  };
  const portable = readPlugin(filesOf({ 'plugin.json': { $schema, name: 'demo' }, ...deep }), place);
  expect(portable.skills.map(({ folder }) => folder)).toEqual(['skills/a']);
  const claude = readPlugin(
    filesOf({ '.claude-plugin/plugin.json': { name: 'demo', skills: './other/' }, ...deep }),
    place,
  );
  expect(claude.skills.map(({ folder }) => folder)).toEqual(['skills/a', 'other/c']);
});

test('a plugin of Claude Code: servers, hooks and folders, without what would grant it rights', () => {
  const files = filesOf({
    '.claude-plugin/plugin.json': { name: 'Review_Kit', version: '2', lspServers: {} },
    '.mcp.json': { mcpServers: { kit: { command: '${CLAUDE_PLUGIN_ROOT}/server', trust: true, autoApprove: ['*'] } } },
    'hooks/hooks.json': {
      hooks: {
        PreToolUse: [
          { matcher: 'Bash', hooks: [{ type: 'command', command: '${CLAUDE_PLUGIN_ROOT}/check.sh', timeout: 5 }] },
          { hooks: [{ type: 'prompt', prompt: 'Is it safe?' }] },
        ],
      },
    },
    'commands/review.md': 'Review.',
    'agents/reviewer.md': 'x',
  });
  expect(readPlugin(files, place)).toEqual({
    name: 'Review_Kit',
    format: 'claude',
    version: '2',
    description: '',
    skills: [],
    commands: 'commands',
    agents: 'agents',
    servers: { kit: { command: '/plugins/demo/server' } },
    hooks: {
      PreToolUse: [{ matcher: 'Bash', hooks: [{ command: '/plugins/demo/check.sh', timeout: 5 }] }, { hooks: [] }],
    },
    notes: [
      '"lspServers" is not supported.',
      'The server "kit" asks to be trusted; it is not.',
      'A PreToolUse hook that is not a command is not supported.',
    ],
  });
});

test('what a manifest names outside of the plugin, or where we do not look, is noted', () => {
  const manifest = {
    name: 'x',
    commands: './more/',
    skills: '../..',
    hooks: './none.json',
    mcpServers: '/etc/mcp.json',
  };
  const { notes, ...plugin } = readPlugin(filesOf({ '.claude-plugin/plugin.json': manifest, 'more/a.md': 'x' }), place);
  expect(plugin).toMatchObject({ skills: [], servers: {}, hooks: {} });
  expect(notes).toEqual([
    '"commands" is not supported: only the folder commands/ is read.',
    '"skills" names "../..", which the plugin does not have.',
    '"hooks" names "none.json", which the plugin does not have.',
    '"mcpServers" names "/etc/mcp.json", which the plugin does not have.',
  ]);
});

test.each(['../evil', 'a/b', '.hidden', '', 'a..b', 'con\u202e'])('a foreign plugin cannot be named %j', (name) => {
  expect(() => readPlugin(filesOf({ 'qwen-extension.json': { name } }), place)).toThrow('its name');
});

test('a text with line breaks cannot look like a line of the description', () => {
  const skill = '---\nname: a\ndescription: "Helps.\\nMCP server  none"\n---\n';
  const files = filesOf({ 'plugin.json': { $schema, name: 'demo', description: 'a\nb' }, 'skills/a/SKILL.md': skill });
  expect(describePlugin(readPlugin(files, place), files)).toEqual([
    'demo (Agent Plugins 1.0, 2 files, 1 KB)',
    'a⏎b',
    'skill    skills/a: Helps.⏎MCP server  none',
  ]);
});

test('the description of a plugin shows all settings of its servers and all programs', () => {
  const mcpServers = {
    a: { command: 'node', args: ['a.js'], env: { NODE_OPTIONS: '--require ./b.js' }, cwd: '/elsewhere' },
    b: { httpUrl: 'https://example.com', headers: { Authorization: 'Bearer $GITHUB_TOKEN' } },
  };
  const names = Array.from({ length: 30 }, (_, index) => `bin/${index}`);
  const programs = names.map((name) => [name, { content: Buffer.from('x'), isExecutable: true }] as const);
  const files = new Map([...filesOf({ 'qwen-extension.json': { name: 'demo', mcpServers } }), ...programs]);
  expect(describePlugin(readPlugin(files, place), files).slice(1)).toEqual([
    'MCP server  a: node a.js env={"NODE_OPTIONS":"--require ./b.js"} cwd="/elsewhere"',
    'MCP server  b: https://example.com headers={"Authorization":"Bearer $GITHUB_TOKEN"}',
    `programs  ${names.join(', ')}`,
  ]);
});

test('a marketplace says how to name one of its plugins', () => {
  expect(() => readPlugin(filesOf({ '.claude-plugin/marketplace.json': {} }), place)).toThrow('URL#BRANCH:FOLDER');
});
