// Published MCP servers driven end to end through `lathe call alias__tool`.
//   node scripts/real-servers.mjs
// The servers are installed below bench/.work when they are not there yet: 40 MB that a checkout need not carry.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const names = ['everything', 'filesystem', 'memory'];
const version = '2026.8.31';
const root = join(import.meta.dirname, '..');
const cache = join(root, 'bench/.work/real-servers');
const bin = (name) => join(cache, 'node_modules/.bin', `mcp-server-${name}`);

if (!names.every((name) => existsSync(bin(name)))) {
  mkdirSync(cache, { recursive: true });
  const packages = names.map((name) => `@modelcontextprotocol/server-${name}@${version}`);
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', cache];
  const { status } = spawnSync('npm', ['install', ...flags, ...packages], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
execFileSync(process.execPath, [join(root, 'scripts/setup.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] });

const home = realpathSync(mkdtempSync(join(tmpdir(), 'lathe-real-')));
const workspace = join(home, 'project');
mkdirSync(workspace);
writeFileSync(join(workspace, 'a.txt'), 'hello from Lathe\n');
mkdirSync(join(home, '.lathe'));
const server = (name, args = [], env = {}) => ({ command: process.execPath, args: [bin(name), ...args], env });
writeFileSync(
  join(home, '.lathe/settings.json'),
  JSON.stringify({
    mcpServers: {
      everything: server('everything'),
      filesystem: server('filesystem', [workspace]),
      memory: server('memory', [], { MEMORY_FILE_PATH: join(home, 'memory.json') }),
    },
  }),
);

const lathe = { entities: [{ name: 'Lathe', entityType: 'tool system', observations: ['turns things'] }] };
/** Tool, parameters, what the answer holds. */
/** @type {[string, object, string][]} */
const calls = [
  ['everything__echo', { message: 'hello' }, 'hello'],
  ['everything__get-sum', { a: 19, b: 23 }, '42'],
  ['everything__get-tiny-image', {}, 'image/png'],
  ['everything__get-structured-content', { location: 'New York' }, 'temperature'],
  ['everything__get-annotated-message', { messageType: 'error', includeImage: true }, 'Error'],
  ['everything__get-resource-links', { count: 2 }, 'not fetched'],
  ['everything__trigger-long-running-operation', { duration: 1, steps: 3 }, 'completed'],
  ['filesystem__read_text_file', { path: join(workspace, 'a.txt') }, 'hello from Lathe'],
  ['filesystem__write_file', { path: join(workspace, 'b.txt'), content: 'b' }, 'b.txt'],
  ['filesystem__list_directory', { path: workspace }, 'b.txt'],
  ['memory__create_entities', lathe, 'Lathe'],
  ['memory__search_nodes', { query: 'turns' }, 'tool system'],
];
try {
  for (const [tool, args, wanted] of calls) {
    const { status, llmContent, error } = call(tool, args);
    const answer = JSON.stringify(llmContent);
    if (status !== 'success' || !answer.includes(wanted))
      throw new Error(`${tool}: ${status}, ${error?.message ?? answer.slice(0, 500)}`);
  }
  const outside = call('filesystem__read_text_file', { path: '/etc/hostname' });
  if (outside.status !== 'error') throw new Error(`a path outside was read: ${outside.status}`);
  console.log(`real servers: ${calls.length + 1} calls of ${names.join(', ')} ${version}`);
} finally {
  rmSync(home, { recursive: true, force: true });
}

function call(tool, args) {
  const program = join(root, 'packages/cli/dist/main.js');
  const argv = [program, 'call', tool, JSON.stringify(args), '--json', '--yolo'];
  const env = { PATH: process.env.PATH, HOME: home };
  return JSON.parse(spawnSync(process.execPath, argv, { cwd: workspace, env, encoding: 'utf8' }).stdout);
}
