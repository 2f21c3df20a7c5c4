import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Approver, type CallOutcome, type FileDiff, Policy, Scheduler, ToolRegistry, textOf } from '@lathe/core';
import { DiscoverySource } from '@lathe/core/discovery';
import { createMcp, DefinitionPins, type McpSource, type ServerDefinition, TokenStore } from '@lathe/core/mcp';
import { tempWorkspace } from '@lathe/core/testing';
import {
  analyzeCommand,
  BackgroundCommands,
  CommandRunner,
  childEnvironment,
  EditTool,
  FileChanges,
  FileLocks,
  Journal,
  KeptCommands,
  LatheHome,
  Sandbox,
  SeenFiles,
  ShellTool,
  unattendedVariables,
  Workspace,
} from '@lathe/core/tools';
import { add } from './own-tools.js';

const project = tempWorkspace({
  'note.txt': 'first line\n',
  'list.sh': `echo '[{"name":"hi","description":"Says hi.","parameters":{"type":"object"}}]'`,
  'call.sh': 'echo "$1 heard $(cat)"',
});
const state = tempWorkspace();
const latheHome = new LatheHome(state.path);
const runner = new CommandRunner(latheHome);
const env = childEnvironment(process.env, { set: unattendedVariables });
const pins = new DefinitionPins(latheHome);
const registry = new ToolRegistry();
const approver: Approver = { decide: async () => ({ outcome: 'once' }) };
const scheduler = new Scheduler({
  registry,
  policy: new Policy({
    mode: 'default',
    rules: { allow: [], ask: [], deny: [] },
    bases: { home: state.path, root: project.path, cwd: project.path },
  }),
  approver,
  spill: async (name) => name,
});
let servers: McpSource[] = [];

before(async () => {
  const workspace = await Workspace.open(project.path);
  const seen = new SeenFiles();
  const changes = new FileChanges({ locks: new FileLocks(latheHome), journal: new Journal(latheHome), seen });
  const sandbox = new Sandbox({ mode: 'off', roots: workspace.roots, latheHome, userHome: state.path });
  const background = new BackgroundCommands(runner, new KeptCommands(latheHome));
  registry.registerTool(add);
  registry.registerTool(new EditTool(workspace, changes));
  registry.registerTool(new ShellTool({ workspace, runner, sandbox, background, env, analyze: analyzeCommand }));
  registry.addSource(
    new DiscoverySource({
      discoveryCommand: 'sh list.sh',
      callCommand: 'sh call.sh',
      runner,
      cwd: project.path,
      env,
      home: state.path,
      pins,
    }),
  );
  servers = createMcp({
    servers: [localServer],
    root: project.path,
    roots: [project.path],
    runner,
    env,
    pins,
    tokens: new TokenStore(latheHome),
    onTools: () => {},
  });
  for (const server of servers) registry.addSource(server);
  assert.deepEqual(await registry.discover(AbortSignal.timeout(20_000)), new Map());
});

after(async () => {
  await Promise.all(servers.map(({ client }) => client.close()));
  project.remove();
  state.remove();
});

const localServer: ServerDefinition = {
  name: 'local',
  alias: 'local',
  endpoint: {
    type: 'stdio',
    argv: [process.execPath, fileURLToPath(new URL('./server.js', import.meta.url))],
    cwd: project.path,
    env: {},
  },
  timeoutMs: 10_000,
  startTimeoutMs: 20_000,
  isTrusted: false,
  exclude: [],
  isProjects: false,
  written: null,
};

async function call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<CallOutcome> {
  const [outcome] = await scheduler.run([{ name, args }], signal ?? AbortSignal.timeout(20_000));
  assert.ok(outcome);
  return outcome;
}

void test('a registry and a scheduler run a tool without createLathe', async () => {
  assert.equal((await call('add', { a: 1, b: 2 })).llmContent, '3');
});

void test('a discovery command brings a tool', async () => {
  const { status, llmContent } = await call('hi', { from: 'Ada' });
  assert.deepEqual([status, textOf(llmContent).trim()], ['success', 'hi heard {"from":"Ada"}']);
});

void test('an MCP server brings a tool', async () => {
  const { status, llmContent } = await call('local__shout', { text: 'hello' });
  assert.deepEqual([status, textOf(llmContent)], ['success', 'HELLO']);
});

void test('an edit returns the diff of the file', async () => {
  const file_path = join(project.path, 'note.txt');
  const { status, returnDisplay } = await call('edit', { file_path, old_string: 'first', new_string: 'only' });
  assert.equal(status, 'success');
  assert.ok(isFileDiff(returnDisplay));
  assert.deepEqual(
    [returnDisplay.originalContent, returnDisplay.newContent, project.read('note.txt')],
    ['first line\n', 'only line\n', 'only line\n'],
  );
});

void test('a command has output', async () => {
  const { status, llmContent } = await call('run_shell_command', { command: 'echo hello' });
  assert.equal(status, 'success');
  assert.match(textOf(llmContent), /Output: hello/);
});

void test('an abort during a call leaves no process behind', async () => {
  const seconds = `${randomInt(100_000, 999_999)}.${randomInt(100_000, 999_999)}`;
  const abort = new AbortController();
  const command = `sleep ${seconds} & echo started; sleep ${seconds}`;
  const run = scheduler.run([{ name: 'run_shell_command', args: { command } }], abort.signal);
  let running: string[] = [];
  for await (const event of run) {
    if (event.type !== 'call-output') continue;
    running = processesWith(seconds);
    abort.abort();
  }
  const [outcome] = await run;
  assert.equal(outcome?.status, 'cancelled');
  if (existsSync('/proc/self/cmdline')) assert.notDeepEqual(running, []);
  assert.deepEqual(processesWith(seconds), []);
});

function isFileDiff(display: CallOutcome['returnDisplay']): display is FileDiff {
  return typeof display === 'object' && display.type === 'file_diff';
}

/** The living processes with `text` in their arguments. */
function processesWith(text: string): string[] {
  if (!existsSync('/proc/self/cmdline')) return [];
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}
