import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  AuditRecord,
  CallEvent,
  CallRun,
  FileDiff,
  SettingKey,
  Target,
  ToolErrorType,
  ToolIdentity,
  ToolKind,
  ToolSource,
  ToolSpec,
  Verdict,
} from '@lathe/core';
import { BaseTool, CallSlot, defineTool, denyAll, Policy, Scheduler, ToolRegistry } from '@lathe/core';
import { DiscoveredTool, DiscoverySource, DefinitionPins as Pins, ToolFiles } from '@lathe/core/discovery';
import { createMcp, DefinitionPins, DiscoveredMCPTool, type McpOptions, McpSource, TokenStore } from '@lathe/core/mcp';
import { directCall, runCalls, tempWorkspace } from '@lathe/core/testing';
import {
  AskUserQuestionTool,
  analyzeCommand,
  BackgroundCommands,
  CommandRunner,
  childEnvironment,
  EditTool,
  ExitPlanModeTool,
  FileChanges,
  FileLocks,
  GlobTool,
  GrepTool,
  GuardedHttp,
  IgnoreRules,
  Journal,
  KeptCommands,
  LatheHome,
  LSTool,
  type MemoryFiles,
  MemoryTool,
  openEngines,
  type PlanMode,
  ReadFileTool,
  type ReadLimits,
  ReadManyFilesTool,
  Ripgrep,
  Sandbox,
  type SearchAnswer,
  type SearchEngine,
  SeenFiles,
  ShellTool,
  type TaskRunner,
  TaskTool,
  type TodoStore,
  TodoWriteTool,
  unattendedVariables,
  type Visibility,
  WebFetchTool,
  WebSearchTool,
  Workspace,
  WriteFileTool,
} from '@lathe/core/tools';
import { expect, onTestFinished, test } from 'vitest';

const never = new AbortController().signal;

function scratch(files: Record<string, string> = {}) {
  const workspace = tempWorkspace(files);
  onTestFinished(() => workspace.remove());
  return workspace;
}

test('the main entry of core exports at most 60 names', () => {
  const index = readFileSync(join(import.meta.dirname, '../packages/core/src/index.ts'), 'utf8');
  const lists = [...index.matchAll(/^export (?:type )?\{([^}]+)\} from /gm)].map(([, names = '']) => names.split(','));
  const names = lists.flat().filter((name) => name.trim() !== '');
  expect(names.map((name) => name.trim())).toContain('defineTool');
  expect(index.match(/^export /gm)).toHaveLength(lists.length);
  expect(names.length).toBeLessThanOrEqual(60);
});

test('the fourteen built-in tools are classes that anybody can put together', async () => {
  const { path, read } = scratch({ 'a.txt': 'one\n' });
  const home = new LatheHome(scratch().path);
  const workspace = await Workspace.open(path);
  const visibility: Visibility = { rules: new IgnoreRules(workspace.roots), disregard: new Set(), canRead: undefined };
  const seen = new SeenFiles();
  const changes = new FileChanges({ locks: new FileLocks(home), journal: new Journal(home), seen });
  const runner = new CommandRunner(home);
  const sandbox = new Sandbox({ mode: 'off', roots: workspace.roots, latheHome: home, userHome: path });
  const background = new BackgroundCommands(runner, new KeptCommands(home));
  const env = childEnvironment(process.env, { set: unattendedVariables });
  const http = new GuardedHttp({ timeoutMs: 1000 });
  onTestFinished(() => http.close());
  const memory: MemoryFiles = { global: async () => `${path}/global.md`, project: async () => `${path}/AGENTS.md` };
  const todos: TodoStore = { todos: [] };
  const plan: PlanMode = { isActive: () => false, leave: () => {} };
  const limits: ReadLimits = { lines: 100, chars: 10_000 };
  const answer: SearchAnswer = { results: [] };
  const engine: SearchEngine = { name: 'none', url: new URL('https://example.org'), search: async () => answer };
  const tasks: TaskRunner = {
    list: () => [{ name: 'helper', description: 'Helps.' }],
    run: () => Promise.reject(new Error('not called')),
  };
  const tools = [
    new LSTool(workspace, visibility),
    new ReadFileTool(workspace, seen, visibility, limits),
    new ReadManyFilesTool(workspace, seen, visibility),
    new GlobTool(workspace, visibility, new Ripgrep()),
    new GrepTool(workspace, visibility, new Ripgrep()),
    new EditTool(workspace, changes),
    new WriteFileTool(workspace, changes),
    new ShellTool({ workspace, runner, sandbox, background, env, analyze: analyzeCommand }),
    new WebFetchTool({ http, spill: async (name) => name, secrets: [] }),
    new WebSearchTool({ engines: [engine], secrets: [] }),
    new MemoryTool(workspace, changes, memory),
    new TaskTool(tasks),
    new TodoWriteTool(todos),
    new AskUserQuestionTool(),
    new ExitPlanModeTool(plan),
  ];
  const args = { file_path: `${path}/a.txt`, old_string: 'one', new_string: 'two' };
  const { outcomes } = await runCalls({ tools, calls: [{ name: 'edit', args }], mode: 'auto-edit', cwd: path });
  expect(outcomes[0]?.returnDisplay).toMatchObject({ type: 'file_diff' } satisfies Partial<FileDiff>);
  expect(read('a.txt')).toBe('two\n');
  expect(new Set(tools.map(({ name }) => name)).size).toBe(15);
  expect(openEngines({ provider: [] }, {}, { timeoutMs: 1000 }).engines).toEqual([]);
});

test('a registry, a scheduler, a policy and a source of tools work without createLathe', async () => {
  const kind: ToolKind = 'read';
  const identity: ToolIdentity = {
    name: 'greet',
    displayName: 'Greet',
    description: 'Greets.',
    kind,
    parameterSchema: { type: 'object' },
  };
  const greeting = new CallSlot<string>();
  class GreetTool extends BaseTool<object> {
    constructor() {
      super(identity);
    }
    override getTargets(_params: object, call = directCall()): Target[] {
      greeting.set(call, 'hello');
      return [];
    }
    async execute(_params: object, _signal: AbortSignal, call = directCall()) {
      return { llmContent: greeting.get(call) ?? '', returnDisplay: '' };
    }
  }
  const spec: ToolSpec<{ type: 'object' }> = {
    ...identity,
    name: 'fail',
    parameterSchema: { type: 'object' },
    execute: async () => Promise.reject(new Error('no')),
  };
  const source: ToolSource = { label: 'mine', discover: async () => [new GreetTool(), defineTool(spec)] };
  const registry = new ToolRegistry();
  registry.addSource(source);
  await registry.discover(never);
  const records: AuditRecord[] = [];
  const policy = new Policy({
    mode: 'default',
    rules: { allow: [], ask: [], deny: [] },
    bases: { home: '/', root: '/', cwd: '/' },
  });
  const scheduler = new Scheduler({
    registry,
    policy,
    approver: denyAll,
    spill: async (name) => name,
    audit: (record) => records.push(record),
  });
  const run: CallRun = scheduler.run([{ name: 'greet' }, { name: 'fail' }], never);
  const events: CallEvent['type'][] = [];
  for await (const { type } of run) events.push(type);
  const outcomes = await run;
  const type: ToolErrorType | undefined = outcomes[1]?.error?.type;
  const verdict: Verdict['verdict'] | undefined = outcomes[0]?.verdict?.verdict;
  expect([outcomes[0]?.llmContent, type, verdict]).toEqual(['hello', 'unhandled_exception', 'allow']);
  expect(records.map(({ tool }) => tool)).toEqual(['greet', 'fail']);
  expect(events.filter((event) => event === 'call-end')).toHaveLength(2);
});

test('discovery commands and MCP servers can be added to any registry', async () => {
  const home = new LatheHome(scratch().path);
  const { path } = scratch({
    'tools.sh': `echo '[{"name":"hi","description":"Says hi.","parameters":{"type":"object"}}]'`,
    'call.sh': 'echo "hi from $1"',
  });
  const registry = new ToolRegistry();
  const runner = new CommandRunner(home);
  const env = childEnvironment(process.env);
  registry.addSource(
    new DiscoverySource({
      discoveryCommand: 'sh tools.sh',
      callCommand: 'sh call.sh',
      runner,
      cwd: path,
      env,
      home: path,
      pins: new Pins(home),
    }),
  );
  const text =
    "export default require('@lathe/core').defineTool({ name: 'me', description: 'Me.', parameterSchema: {}, execute: () => '' })";
  registry.addSource(new ToolFiles({ label: 'files', folder: scratch({ 'me.js': text }).path, isTrusted: true }));
  expect(await registry.discover(never)).toEqual(new Map());
  expect(registry.getTool('me')?.displayName).toBe('Me');
  const tool = registry.getTool('hi');
  expect(tool).toBeInstanceOf(DiscoveredTool);
  const { outcomes } = await runCalls({
    tools: tool ? [tool] : [],
    calls: [{ name: 'hi' }],
    answers: [{ outcome: 'once' }],
  });
  expect(outcomes[0]?.llmContent).toBe('hi from hi\n');

  const options: McpOptions = {
    servers: [],
    root: path,
    roots: [path],
    runner,
    env,
    pins: new DefinitionPins(home),
    tokens: new TokenStore(home),
    onTools: () => {},
  };
  expect(createMcp(options)).toEqual([]);
  expect([McpSource, DiscoveredMCPTool].map(({ name }) => name)).toEqual(['McpSource', 'DiscoveredMCPTool']);
});

test('keys of settings are checked by their type', () => {
  const key: SettingKey = 'tools.approvalMode';
  expect(key).toBe('tools.approvalMode');
});
