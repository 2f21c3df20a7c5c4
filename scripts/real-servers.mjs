// Published MCP servers driven end to end through `lathe call alias__tool`.
//   node scripts/real-servers.mjs
// The servers are installed below bench/.work when they are not there yet: 90 MB that a checkout need not carry.
// Playwright's server needs a Chromium, such as that of Debian; without one its call is skipped by name.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const version = '2026.8.31';
/** The program of each server, and the package it is in. */
const servers = {
  everything: ['mcp-server-everything', `@modelcontextprotocol/server-everything@${version}`],
  filesystem: ['mcp-server-filesystem', `@modelcontextprotocol/server-filesystem@${version}`],
  memory: ['mcp-server-memory', `@modelcontextprotocol/server-memory@${version}`],
  playwright: ['playwright-mcp', '@playwright/mcp@0.0.83'],
  firecrawl: ['firecrawl-mcp', 'firecrawl-mcp@3.26.0'],
};
const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
const root = join(import.meta.dirname, '..');
const cache = join(root, 'bench/.work/real-servers');
const bin = (name) => join(cache, 'node_modules/.bin', servers[name][0]);

if (!Object.keys(servers).every((name) => existsSync(bin(name)))) {
  mkdirSync(cache, { recursive: true });
  const packages = Object.values(servers).map(([, source]) => source);
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
      ...(chromium && {
        playwright: server(
          'playwright',
          `--headless --no-sandbox --isolated --executable-path ${chromium} --output-dir ${home}/pictures`.split(' '),
        ),
      }),
      // Its tools are listed without a request to the service.
      firecrawl: server('firecrawl', [], { FIRECRAWL_API_KEY: 'fc-of-nobody' }),
    },
  }),
);

const entity = { entities: [{ name: 'Lathe', entityType: 'tool system', observations: ['turns things'] }] };
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
  ['memory__create_entities', entity, 'Lathe'],
  ['memory__search_nodes', { query: 'turns' }, 'tool system'],
  ...(chromium ? [['playwright__browser_take_screenshot', {}, '"mimeType":"image/png"']] : []),
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
  assertOnce(call('memory__read_graph', {}), 'turns things');
  assertTools('firecrawl', 29);
  if (!chromium) console.log('real servers: playwright skipped, there is no Chromium');
  const used = Object.entries(servers).filter(([name]) => name !== 'playwright' || chromium);
  console.log(`real servers: ${calls.length + 3} checks of ${used.map(([, [, source]]) => source).join(', ')}`);
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** A server may send the same facts as text and as structured content. */
function assertOnce({ llmContent }, fact) {
  const count = JSON.stringify(llmContent).split(fact).length - 1;
  if (count !== 1) throw new Error(`${JSON.stringify(fact)} is ${count} times in the answer`);
}

/** No tool of a server is left out. */
function assertTools(name, wanted) {
  const { stdout, stderr } = lathe('tools', '--json');
  const found = JSON.parse(stdout).filter((tool) => tool.name.startsWith(`${name}__`));
  if (found.length !== wanted) throw new Error(`${name}: ${found.length} of ${wanted} tools; ${stderr}`);
}

function call(tool, args) {
  return JSON.parse(lathe('call', tool, JSON.stringify(args), '--json', '--yolo').stdout);
}

function lathe(...args) {
  const argv = [join(root, 'packages/cli/dist/main.cjs'), ...args];
  const env = { PATH: process.env.PATH, HOME: home };
  return spawnSync(process.execPath, argv, { cwd: workspace, env, encoding: 'utf8', maxBuffer: 64 << 20 });
}
