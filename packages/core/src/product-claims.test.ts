import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type * as genai from '@google/genai';
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest';
import { badMcpServer } from '../../../testing/bad-mcp-servers.js';
import { oauthMetadata } from '../../../testing/oauth-metadata.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { webServer } from '../../../testing/web-server.js';
import {
  EditTool,
  ExitPlanModeTool,
  GlobTool,
  GrepTool,
  LSTool,
  MemoryTool,
  ReadFileTool,
  ReadManyFilesTool,
  ShellTool,
  TaskTool,
  TodoWriteTool,
  WebFetchTool,
  WebSearchTool,
  WriteFileTool,
} from './entry-tools.js';
import {
  type AnyTool,
  type ApprovalRequest,
  createLathe,
  type FunctionCall,
  type FunctionDeclaration,
  type FunctionResponse,
  type LatheOptions,
  type Part,
  type ToolResult,
  textOf,
} from './index.js';

// What the product page says of tools, tried from outside: one row per sentence.

const never = new AbortController().signal;
const node = process.execPath;

interface World extends Partial<LatheOptions> {
  user?: object;
  project?: object;
  files?: Record<string, string>;
}

/** The tool system in a trusted folder, with the questions it asked; everybody says yes unless told otherwise. */
async function open({ user = {}, project = {}, files = {}, ...options }: World = {}) {
  const asked: ApprovalRequest[] = [];
  const latheHome = tempDirectory({ 'settings.json': JSON.stringify(user) });
  const cwd = tempDirectory({ ...files, '.lathe/settings.json': JSON.stringify(project) });
  const lathe = await createLathe({
    cwd,
    env: { PATH: process.env['PATH'], ...options.env },
    home: tempDirectory(),
    latheHome,
    approver: {
      decide: async (request) => {
        asked.push(request);
        return { outcome: 'once' };
      },
    },
    ...options,
  });
  onTestFinished(() => lathe.close());
  const run = async (name: string, args: Record<string, unknown> = {}, signal = never) =>
    (await lathe.run([{ name, args }], signal))[0];
  const found = () => lathe.tools.entries().flatMap(({ tool, source }) => (source === 'built-in' ? [] : tool.name));
  return { lathe, cwd, asked, run, found };
}

test('content types fit those of @google/genai in both directions', () => {
  expectTypeOf<ToolResult['llmContent']>().toExtend<genai.PartListUnion>();
  expectTypeOf<Exclude<genai.PartListUnion, genai.Part | genai.PartUnion[]>>().toExtend<ToolResult['llmContent']>();
  expectTypeOf<genai.Part>().toExtend<Part>();
  expectTypeOf<genai.FunctionCall>().toExtend<FunctionCall>();
  expectTypeOf<FunctionResponse>().toExtend<genai.FunctionResponse>();
  expectTypeOf<FunctionDeclaration>().toExtend<genai.FunctionDeclaration>();
});

const tasks = {
  list: () => [{ name: 'helper', description: 'Helps.' }],
  run: () => Promise.reject(new Error('not run here')),
};

/** Class, name for the model, parameters that must be given, and others. */
const table: [new (...parts: never[]) => AnyTool, string, string, string][] = [
  [LSTool, 'list_directory', 'path', 'ignore file_filtering_options'],
  [ReadFileTool, 'read_file', 'absolute_path', 'offset limit pages'],
  [WriteFileTool, 'write_file', 'file_path content', ''],
  [EditTool, 'edit', 'file_path old_string new_string', 'replace_all'],
  [GrepTool, 'grep_search', 'pattern', 'path glob limit case_sensitive context'],
  [GlobTool, 'glob', 'pattern', 'path'],
  [ReadManyFilesTool, 'read_many_files', 'paths', 'include exclude'],
  [ShellTool, 'run_shell_command', 'command', 'description directory timeout is_background'],
  [WebFetchTool, 'web_fetch', 'url prompt', ''],
  [WebSearchTool, 'web_search', 'query', 'provider'],
  [MemoryTool, 'save_memory', 'fact', 'scope'],
  [TaskTool, 'task', 'description prompt subagent_type', ''],
  [TodoWriteTool, 'todo_write', 'todos', ''],
  [ExitPlanModeTool, 'exit_plan_mode', 'plan', ''],
];

test('each built-in tool is of its class, with its name, parameters and members', async () => {
  const { lathe } = await open({
    extend: async () => ({ tasks }),
    env: { TAVILY_API_KEY: 'key', BRAVE_API_KEY: 'key' },
  });
  for (const [type, name, required, others] of table) {
    const tool = lathe.tools.getTool(name);
    expect(tool, name).toBeInstanceOf(type);
    const { properties = {}, required: needed = [] } = (tool?.parameterSchema ?? {}) as {
      properties?: object;
      required?: string[];
    };
    expect([name, ...needed]).toEqual([name, ...required.split(' ')]);
    expect(Object.keys(properties), name).toEqual(expect.arrayContaining(`${required} ${others}`.trim().split(' ')));
    for (const text of ['displayName', 'description'] as const) expect(tool?.[text], name).toMatch(/\S/);
    for (const method of ['validateToolParams', 'getDescription', 'shouldConfirmExecute', 'execute'] as const)
      expect(tool?.[method], name).toBeTypeOf('function');
  }
});

test.each<[string, World, string[]]>([
  ['neither without a model and an engine', {}, []],
  ['task with something to run tasks', { extend: async () => ({ tasks }) }, ['task']],
  ['web_search with a key in the environment', { env: { TAVILY_API_KEY: 'key' } }, ['web_search']],
  [
    'web_search with an engine in the settings',
    { user: { webSearch: { provider: [{ type: 'tavily', apiKey: 'k' }] } } },
    ['web_search'],
  ],
])('of task and web_search there is %s', async (_title, world, there) => {
  const { lathe } = await open(world);
  expect(['task', 'web_search'].filter((name) => lathe.tools.getTool(name))).toEqual(there);
});

test('every call has one outcome, in the order of the calls, whatever becomes of them', async () => {
  const { lathe, cwd } = await open();
  const calls = [
    { id: 'a', name: 'list_directory', args: { path: cwd } },
    { id: 'b', name: 'no_such_tool', args: {} },
    { id: 'b', name: 'read_file', args: { absolute_path: 5 } },
    { name: 'run_shell_command', args: { command: 'exit 3' } },
    {},
  ];
  const run = lathe.run(calls, never);
  const ended: string[] = [];
  for await (const event of run) if (event.type === 'call-end') ended.push(event.outcome.callId);
  const outcomes = await run;
  expect(outcomes.map(({ name, status }) => `${name} ${status}`)).toEqual([
    'list_directory success',
    'no_such_tool error',
    'read_file error',
    'run_shell_command error',
    ' error',
  ]);
  expect([...ended].sort()).toEqual(outcomes.map(({ callId }) => callId).sort());
  expect(new Set(ended).size).toBe(5);
});

const schema = { type: 'object', properties: { n: { type: 'integer' } } };
const printing = (value: unknown) => `console.log(${JSON.stringify(JSON.stringify(value))})`;
const echoing =
  'let text = ""; for await (const part of process.stdin) text += part;\nconsole.log(JSON.stringify([process.argv.slice(2), text]));';

/** A folder whose commands are these scripts. */
const commands = (list: string, call = echoing, more = ''): World => ({
  files: { 'list.mjs': list, 'call.mjs': call },
  project: {
    tools: {
      toolDiscoveryCommand: `${node} list.mjs`,
      toolCallCommand: `${node} call.mjs${more}`,
      sandbox: { mode: 'off' },
    },
  },
  isTrusted: true,
});

describe('a discovery command', () => {
  const one = { name: 'build', description: 'Builds.' };
  test.each([
    ['a list', [{ ...one, parameters: schema }]],
    ['a list with the other key of the schema', [{ ...one, parametersJsonSchema: schema }]],
    ['an object in the list that holds a list', [{ function_declarations: [{ ...one, parameters: schema }] }]],
    ['the same in the other spelling', [{ functionDeclarations: [{ ...one, parameters: schema }] }]],
    ['one declaration', { ...one, parameters: schema }],
    ['one object that holds a list', { functionDeclarations: [{ ...one, parameters: schema }] }],
  ])('may print %s', async (_title, printed) => {
    const { lathe, found } = await open(commands(printing(printed)));
    expect([...(await lathe.discover(never))]).toEqual([]);
    expect(found()).toEqual(['build']);
    expect(lathe.tools.getTool('build')?.parameterSchema).toEqual(schema);
  });

  test('is split into words as a shell does it, and no shell sees them', async () => {
    const world = commands(printing([one]), echoing, ` 'two words' "\\$HOME" '$(touch made)' \\; '*' a\\ b`);
    const { lathe, run, cwd } = await open(world);
    await lathe.discover(never);
    const outcome = await run('build', { n: 1 });
    expect(JSON.parse(textOf(outcome?.llmContent ?? ''))).toEqual([
      ['two words', '$HOME', '$(touch made)', ';', '*', 'a b', 'build'],
      '{"n":1}',
    ]);
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });

  test('and the call command are stopped when they print without end', async () => {
    const flood = 'import { writeSync } from "node:fs"; for (;;) writeSync(1, "x".repeat(65536));';
    const first = await open(commands(flood));
    expect(String([...(await first.lathe.discover(never)).values()])).toContain('printed more than 10485760 bytes');
    const second = await open(commands(printing([one]), flood));
    await second.lathe.discover(never);
    expect((await second.run('build'))?.error?.message).toContain('printed more than 10485760 bytes');
  });

  test('and the call command end with an abort', async () => {
    const endless =
      'import { writeFileSync } from "node:fs"; writeFileSync("pid", `${process.pid}`); setInterval(() => {}, 1000);';
    const abortOnceRunning = async (cwd: string, controller: AbortController) => {
      await vi.waitFor(() => expect(readFileSync(join(cwd, 'pid'), 'utf8')).not.toBe(''), { timeout: 20_000 });
      controller.abort(new Error('stopped'));
      return Number(readFileSync(join(cwd, 'pid'), 'utf8'));
    };
    const [list, call] = [new AbortController(), new AbortController()];
    const first = await open(commands(endless));
    const discovering = first.lathe.discover(list.signal);
    const firstPid = await abortOnceRunning(first.cwd, list);
    expect(String([...(await discovering).values()])).toContain('stopped');
    const second = await open(commands(printing([one]), endless));
    await second.lathe.discover(never);
    const calling = second.run('build', {}, call.signal);
    const secondPid = await abortOnceRunning(second.cwd, call);
    expect((await calling)?.status).toBe('cancelled');
    for (const pid of [firstPid, secondPid]) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  test('is confirmed before it first runs, and so is each of its tools', async () => {
    const { isTrusted: _, ...world } = commands(
      `${printing([one])}; (await import('node:fs')).writeFileSync('ran', '')`,
    );
    const untrusted = await open(world);
    expect(String([...(await untrusted.lathe.discover(never)).values()])).toContain('not trusted');
    expect([existsSync(join(untrusted.cwd, 'ran')), untrusted.asked]).toEqual([false, []]);
    const { cwd } = untrusted;
    const { host } = untrusted.lathe;
    const { FolderTrust } = await import('./policy/folder-trust.js');
    await new FolderTrust(host.home).trust(cwd);
    const refusing = await open({
      cwd,
      latheHome: host.home.path,
      approver: { decide: async () => ({ outcome: 'deny' }) },
    });
    expect(String([...(await refusing.lathe.discover(never)).values()])).toContain('You did not agree');
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
    const agreeing = await open({ cwd, latheHome: host.home.path });
    expect([...(await agreeing.lathe.discover(never))]).toEqual([]);
    expect(agreeing.asked).toMatchObject([
      { tool: 'discovery-command', confirmation: { command: `${node} list.mjs\n${node} call.mjs <tool>` } },
    ]);
    await agreeing.run('build');
    expect(agreeing.asked.map(({ tool }) => tool)).toEqual(['discovery-command', 'build']);
  });
});

/** Speaks MCP by plain answers over HTTP, or by an event stream, to clients that have the key. */
async function mcpOverWeb(
  way: 'http' | 'sse',
  isLetIn: (authorization: string | undefined) => boolean = () => true,
  other: (request: IncomingMessage, body: string) => object | undefined = () => undefined,
) {
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'web', version: '1' },
    },
    'tools/list': { tools: ['echo', 'drop', 'extra'].map((name) => ({ name, inputSchema: { type: 'object' } })) },
    'tools/call': { content: [{ type: 'text', text: 'ok' }] },
  };
  let stream: ServerResponse | undefined;
  const server = await webServer((request, response) => {
    const json = (value: object) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const body = server.requests.at(-1)?.body ?? '';
    const known = other(request, body);
    if (known) return json(known);
    if (!isLetIn(request.headers.authorization)) return void response.writeHead(401).end();
    if (request.method === 'GET' && way === 'sse') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void stream.write('event: endpoint\ndata: /messages\n\n');
    }
    if (request.method !== 'POST' || (way === 'sse' && request.url !== '/messages'))
      return void response.writeHead(405).end();
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    const result = results[method];
    const answer = { jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) };
    if (id !== undefined && way === 'http') return json(answer);
    response.writeHead(202).end();
    if (id !== undefined) stream?.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
  });
  return `${server.url}/mcp`;
}

describe('an MCP server', () => {
  const local = (fault: string, more: object = {}) => ({ command: node, args: [badMcpServer, fault], ...more });
  const withServer = (web: object, more: World = {}) => open({ user: { mcpServers: { web } }, ...more });

  test.each([
    ['httpUrl', 'http'],
    ['url', 'sse'],
  ] as const)('is reached by %s, with its headers and variables in them', async (key, way) => {
    const address = await mcpOverWeb(way, (authorization) => authorization === 'Bearer secret');
    const settings = { [key]: address, headers: { authorization: 'Bearer $WEB_TOKEN' } };
    const { lathe, run, asked } = await withServer(settings, { env: { WEB_TOKEN: 'secret' } });
    expect([...(await lathe.discover(never))]).toEqual([]);
    expect(await run('web__echo')).toMatchObject({ status: 'success', llmContent: 'ok' });
    expect(asked).toMatchObject([{ tool: 'web__echo', confirmation: { type: 'mcp', serverName: 'web' } }]);
  });

  test.each([
    [{}, ['web__drop', 'web__echo', 'web__extra']],
    [{ includeTools: ['echo', 'extra'] }, ['web__echo', 'web__extra']],
    [{ excludeTools: ['drop'] }, ['web__echo', 'web__extra']],
    [{ includeTools: ['echo', 'drop'], excludeTools: ['drop'] }, ['web__echo']],
  ])('with %j has the tools %j', async (settings, tools) => {
    const { lathe, found } = await withServer({ httpUrl: await mcpOverWeb('http'), ...settings });
    await lathe.discover(never);
    expect(found()).toEqual(tools);
  });

  test('that wants a login gets one by OAuth, once', async () => {
    const login = ({ url = '', headers }: IncomingMessage, body: string): object | undefined => {
      if (url === '/register') return { ...JSON.parse(body), client_id: 'us' };
      if (url === '/token') return { access_token: 'granted', token_type: 'Bearer' };
      return Object.entries(oauthMetadata(`http://${headers.host}`)).find(([path]) => url.startsWith(path))?.[1];
    };
    const httpUrl = await mcpOverWeb('http', (authorization) => authorization === 'Bearer granted', login);
    const pages: string[] = [];
    const openPage = async (url: URL) => {
      pages.push(url.searchParams.get('scope') ?? '');
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.search = `${new URLSearchParams({ code: 'code', state: url.searchParams.get('state') ?? '' })}`;
      await fetch(back);
    };
    const settings = { httpUrl, oauth: { scopes: ['read'] } };
    const first = await withServer(settings, { openPage });
    expect([...(await first.lathe.discover(never))]).toEqual([]);
    expect((await first.run('web__echo'))?.status).toBe('success');
    const later = await open({ latheHome: first.lathe.host.home.path });
    expect([...(await later.lathe.discover(never))]).toEqual([]);
    expect([pages, later.found().length]).toEqual([['read'], 3]);
  });

  test('is a program with its arguments, its variables and its folder', async () => {
    const script = `const [,, word] = process.argv; require('fs').writeFileSync(word, JSON.stringify([process.env.MINE, process.cwd()]))`;
    const cwd = tempDirectory();
    const { lathe } = await withServer({ command: node, args: ['-e', script, '', 'said'], env: { MINE: 'yes' }, cwd });
    await lathe.discover(never);
    expect(JSON.parse(readFileSync(join(cwd, 'said'), 'utf8'))).toEqual(['yes', cwd]);
  });

  test('that is trusted runs without a question, and one that hangs is ended by its time limit', async () => {
    const trusted = await withServer(local('none', { trust: true }), { isTrusted: true });
    await trusted.lathe.discover(never);
    expect([(await trusted.run('web__echo'))?.status, trusted.asked]).toEqual(['success', []]);
    const hanging = await withServer(local('hangs', { timeout: 300 }));
    await hanging.lathe.discover(never);
    expect((await hanging.run('web__echo'))?.status).toBe('error');
  });

  test('may be the single one that a command line starts', async () => {
    const { lathe, run } = await open({ user: { mcp: { mcpServerCommand: `${node} '${badMcpServer}' none` } } });
    expect([...(await lathe.discover(never))]).toEqual([]);
    expect((await run('mcp__echo'))?.llmContent).toBe('ok');
  });
});
