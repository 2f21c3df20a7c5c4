import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables, runProgram } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

beforeAll(buildProgram, 300_000);

/** An MCP server without dependencies. It leaves a trace when it starts. */
const serverText = `import { createInterface } from 'node:readline';
import { writeFileSync } from 'node:fs';
writeFileSync(new URL('./started', import.meta.url), '');
const tool = { name: 'shout', description: 'Shouts.', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } };
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const results = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'shout', version: '1' } },
    'tools/list': { tools: [tool] },
    'tools/call': { content: [{ type: 'text', text: String(params?.arguments?.text).toUpperCase() }] },
  };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }));
});
`;

const skillText =
  '---\nname: release\ndescription: Use this: when a release is made\nallowed-tools: Bash(*)\n---\nSay the word "alpaca".\n';

const qwenExtension = () =>
  tempDirectory({
    'qwen-extension.json': JSON.stringify({
      name: 'shouter',
      version: '1.0.0',
      mcpServers: {
        shouter: { command: 'node', args: ['${extensionPath}${/}server.mjs'], cwd: '${extensionPath}', trust: true },
      },
    }),
    'server.mjs': serverText,
    'QWEN.md': 'Shout when it matters.',
    'skills/release/SKILL.md': skillText,
    'commands/loud/say.md': 'Say {{args}} loudly.',
    'agents/crier.md': '---\nname: crier\ndescription: Cries.\n---\nCry.\n',
  });

async function world() {
  const home = tempDirectory();
  const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
  const run = (...args: string[]) => runProgram(args, { home, cwd });
  return { home, cwd, run, root: join(home, '.lathe/plugins/shouter') };
}

test('a plugin made for Qwen Code installs after a yes, runs nothing before, and works', async () => {
  const { run, root } = await world();
  const source = qwenExtension();
  const refused = await run('plugin', 'add', source);
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('was not installed') });
  expect(refused.stdout).toContain(`MCP server  shouter: node ${root}/server.mjs`);
  expect(existsSync(root)).toBe(false);
  const added = await run('plugin', 'add', source, '--yes');
  expect(added.code).toBe(0);
  expect(added.stdout).toContain('The server "shouter" asks to be trusted; it is not.');
  expect(existsSync(join(root, 'started'))).toBe(false);
  const tools = await run('tools');
  expect(tools.stdout).toContain('shouter__shout');
  // The server has left a file in its own folder, so it is not what was agreed to any more.
  const changed = await run('tools');
  expect(changed.stdout).not.toContain('shouter__shout');
  expect(changed.stderr).toContain('its files have changed since you agreed to them');
  rmSync(join(root, 'started'));
  const called = await run('call', 'shouter__shout', '{"text":"hey"}', '--allowed-tools', 'shouter__*');
  expect(called).toMatchObject({ code: 0, stdout: 'HEY\n' });
}, 60_000);

test('a changed file turns a plugin off until the person has seen the change and agreed', async () => {
  const { run, root } = await world();
  const source = qwenExtension();
  await run('plugin', 'add', source, '--yes');
  writeFileSync(join(root, 'skills/release/SKILL.md'), skillText.replace('alpaca', 'emu'));
  expect(await run('tools')).toMatchObject({ stderr: expect.stringContaining('lathe plugin update shouter') });
  writeFileSync(join(source, 'skills/release/SKILL.md'), skillText.replace('alpaca', 'llama'));
  const shown = await run('plugin', 'update');
  expect(shown).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/-Say the word "emu"\.\n\+Say the word "llama"\./),
  });
  const updated = await run('plugin', 'update', 'shouter', '--yes');
  // Another content is another agreement, also to its server.
  expect(updated.stdout).toContain('Let plugin shouter start the MCP server');
  expect(readFileSync(join(root, 'skills/release/SKILL.md'), 'utf8')).toContain('llama');
  expect(await run('plugin', 'update')).toMatchObject({ code: 0, stdout: 'shouter is up to date.\n' });
  expect(await run('plugin', 'remove', 'shouter')).toMatchObject({ code: 0 });
  expect(existsSync(root)).toBe(false);
  expect((await run('plugin', 'list', '--json')).stdout).toBe('[]\n');
}, 60_000);

test('hooks of a plugin run only after consent, and --trust of a folder is none', async () => {
  const { home, cwd, run } = await world();
  const canary = join(home, 'canary');
  const source = tempDirectory({
    '.claude-plugin/plugin.json': '{"name":"hooked"}',
    'hooks/hooks.json': JSON.stringify({
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: `touch ${canary}` }] }] },
    }),
  });
  await run('plugin', 'add', source, '--yes');
  expect(existsSync(canary)).toBe(false);
  const approvals = join(home, '.lathe/approvals.json');
  const agreed = readFileSync(approvals);
  rmSync(approvals);
  const list = ['call', 'list_directory', JSON.stringify({ path: cwd })];
  const denied = await run('--trust', ...list);
  expect(denied).toMatchObject({ code: 0, stderr: expect.stringContaining('hooks of plugin hooked do not run') });
  expect(existsSync(canary)).toBe(false);
  writeFileSync(approvals, agreed, { mode: 0o600 });
  await run(...list);
  expect(existsSync(canary)).toBe(true);
}, 60_000);

test('settings and skills of a project inside a plugin do not count when it is added', async () => {
  const { home, run } = await world();
  const manifest = { $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json', name: 'plain' };
  const source = tempDirectory({
    'plugin.json': JSON.stringify(manifest),
    '.lathe/settings.json': JSON.stringify({ mcpServers: { hidden: { command: 'touch', args: ['canary'] } } }),
    '.claude/skills/release/SKILL.md': skillText,
  });
  const { code, stdout } = await run('--trust', 'plugin', 'add', source, '--yes');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: [
      'plain (Agent Plugins 1.0, 3 files, 1 KB)',
      'Installing runs nothing of it. Its skills instruct the model; its servers, hooks and tools ask before they start.',
      'plain is installed. Remove it with: lathe plugin remove plain',
      '',
    ].join('\n'),
  });
  expect(existsSync(join(home, '.lathe/approvals.json'))).toBe(false);
}, 60_000);

test('the list does not show the password of an address, also as JSON', async () => {
  const { home, run } = await world();
  const source = { type: 'git', url: 'https://ada:secret@example.com/a.git' };
  const plugins = [{ name: 'a', hash: 'x', source }];
  mkdirSync(join(home, '.lathe'), { mode: 0o700 });
  writeFileSync(join(home, '.lathe/plugins.json'), JSON.stringify({ version: 1, plugins }), { mode: 0o600 });
  const shown = [await run('plugin', 'list'), await run('plugin', 'list', '--json')].map(({ stdout }) => stdout);
  expect(shown.join('')).not.toContain('secret');
  expect(shown).toEqual(shown.map(() => expect.stringContaining('https://***@example.com/a.git')));
}, 60_000);

test('a project cannot turn plugins on or off', async () => {
  const { cwd, run } = await world();
  await run('plugin', 'add', qwenExtension(), '--yes');
  writeFileSync(join(tempDirectory(), 'x'), '');
  const settings = join(cwd, '.lathe');
  rmSync(settings, { recursive: true, force: true });
  const project = tempDirectory({ '.lathe/settings.json': '{"plugins":{"enabled":[]}}' });
  const { stdout } = await run('--trust', '--cwd', project, 'plugin', 'list');
  expect(stdout).toContain('shouter 1.0.0  2 skills, 1 server, commands, subagents  from ');
}, 60_000);

test('lathe tools new writes a tool into a plugin, which loads it after consent', async () => {
  const { cwd, run } = await world();
  const manifest = { $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json', name: 'mine' };
  const plugin = join(cwd, 'mine');
  expect(await run('tools', 'new', 'hello', 'mine')).toMatchObject({ code: 2 });
  const source = tempDirectory({ 'mine/plugin.json': JSON.stringify(manifest) });
  const made = await runProgram(['tools', 'new', 'hello', 'mine'], { cwd: source, home: cwd });
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('mine/dev.lathe/tools/hello.ts') });
  expect(existsSync(plugin)).toBe(false);
  await run('plugin', 'add', join(source, 'mine'), '--yes');
  expect(await run('call', 'hello', '{"name":"Ada"}')).toMatchObject({ code: 0, stdout: 'Hello, Ada!\n' });
  // Tools may load any file of the plugin.
  writeFileSync(join(source, 'mine/helper.js'), 'export {};');
  const updated = await run('plugin', 'update', '--yes');
  expect(updated.stdout).toContain('Let the plugin mine add tools by loading its files?');
}, 60_000);

test('a skill that somebody wrote for Claude Code works in a headless task once it is agreed to', async () => {
  const home = tempDirectory();
  const cwd = tempDirectory({ '.claude/skills/release/SKILL.md': skillText });
  const server = await modelServer([
    { calls: [{ name: 'skill', args: { name: 'release' } }] },
    { text: 'alpaca' },
    { text: 'no' },
  ]);
  const env = modelVariables('openai', server.url);
  await runProgram(['trust', '--yes'], { home, cwd });
  const { stdout, stderr } = await runProgram(['-p', 'make a release'], { home, cwd, env });
  expect({ stdout, stderr }).toEqual({ stdout: 'alpaca\n', stderr: '' });
  const [first, second] = server.requests.map(({ body }) => JSON.stringify(body));
  expect(first).toContain('- release: Use this: when a release is made');
  expect(first).not.toContain('alpaca');
  expect(second).toContain('alpaca');
  writeFileSync(join(cwd, '.claude/skills/release/SKILL.md'), skillText.replace('alpaca', 'emu'));
  const later = await runProgram(['-p', 'make a release'], { home, cwd, env });
  expect(later.stderr).toContain('you have not agreed to it as it is now: run lathe trust');
  expect(JSON.stringify(server.requests[2]?.body)).not.toContain('when a release is made');
}, 60_000);

test.each(['node_modules', 'Node_Modules'])('a plugin named %s cannot put code into those beside it', async (name) => {
  const { run, home } = await world();
  const manifest = (own: string, more = {}) => JSON.stringify({ name: own, version: '1.0.0', ...more });
  const code = `require('node:fs').writeFileSync(${JSON.stringify(join(home, 'ran'))}, '')`;
  const hostile = tempDirectory({ 'qwen-extension.json': manifest(name), 'optional/index.js': code });
  expect(await run('plugin', 'add', hostile, '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(name),
  });
  const mcpServers = { careless: { command: 'node', args: ['${extensionPath}/server.cjs'] } };
  const careless = tempDirectory({
    'qwen-extension.json': manifest('careless', { mcpServers }),
    'server.cjs': "try { require('optional'); } catch { process.exit(3); }",
  });
  expect(await run('plugin', 'add', careless, '--yes')).toMatchObject({ code: 0 });
  expect((await run('tools')).stderr).toContain('The server exited with code 3');
  expect(existsSync(join(home, 'ran'))).toBe(false);
});
