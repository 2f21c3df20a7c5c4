import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgentLathe } from '@lathe/agent';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { badMcpServer } from '../../../testing/bad-mcp-servers.js';
import { buildProgram, modelVariables, runProgram } from '../../../testing/lathe-program.js';
import { modelServer } from '../../../testing/model-server.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { terminal } from '../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

const signal = new AbortController().signal;

interface Place {
  cwd: string;
  home: string;
}

/** A folder with a discovery command, a server and a tool file. Unless it is `working`, all fail when they are started. */
async function place(state: State): Promise<Place> {
  const isWorking = state === 'working';
  const settings = {
    tools: { toolDiscoveryCommand: isWorking ? 'cat found.json' : 'false', toolCallCommand: 'true' },
    mcpServers: {
      theirs: isWorking ? { command: process.execPath, args: [badMcpServer, 'none'] } : { command: 'false' },
    },
  };
  const files = {
    '.lathe/settings.json': JSON.stringify(settings),
    'found.json': '[{ "name": "found", "description": "Found.", "parameters": { "type": "object" } }]',
    ...(isWorking ? { '.lathe/tools/filed.ts': filedTool } : { '.lathe/tools/bad.ts': 'export const nothing = 1;' }),
  };
  const [cwd, home] = [tempDirectory(files), tempDirectory()];
  const isAgreed = isWorking || state === 'broken';
  if (state !== 'untrusted') await runProgram(['trust', ...(isAgreed ? ['--yes'] : [])], { cwd, home });
  return { cwd, home };
}

const filedTool = `import { defineTool } from '@lathe/core';
export default defineTool({ name: 'filed', description: 'Filed.', parameterSchema: {}, execute: () => 'ok' });
`;

type State = 'untrusted' | 'not agreed' | 'broken' | 'working';

/** Everything a program printed. */
async function said(args: readonly string[], at: Place, env: Record<string, string> = {}): Promise<string> {
  const { stdout, stderr } = await runProgram(args, { ...at, env });
  return `${stdout}\n${stderr}`;
}

/** What a person or a model reads there. */
const surfaces: Record<string, (place: Place) => Promise<string>> = {
  'lathe tools': (at) => said(['tools'], at),
  'lathe tools --json': (at) => said(['tools', '--json'], at),
  'lathe doctor': (at) => said(['doctor'], at),
  'lathe doctor --json': (at) => said(['doctor', '--json'], at),
  'lathe mcp list': (at) => said(['mcp', 'list'], at),
  'lathe mcp test': (at) => said(['mcp', 'test', 'theirs'], at),
  'lathe call': (at) => said(['call', 'missing'], at),
  'lathe serve': (at) => said(['serve', '--tools', 'found,filed,theirs__echo'], at),
  'lathe -p': async (at) => {
    const model = await modelServer([{ text: 'hi' }]);
    const text = await said(['-p', 'hi'], at, modelVariables('openai', model.url));
    return `${text}\n${JSON.stringify(model.requests)}`;
  },
  'the result of discover()': async (at) =>
    [...(await (await library(at)).discover(signal))].map(([label, error]) => `${label}: ${String(error)}`).join('\n'),
  'the error for an unknown tool': async (at) => {
    const lathe = await library(at);
    await lathe.discover(signal);
    return (await lathe.run([{ id: '1', name: 'missing', args: {} }], signal))[0]?.error?.message ?? '';
  },
};

async function library({ cwd, home }: Place) {
  const lathe = await createAgentLathe({ cwd, home, env: { PATH: process.env['PATH'] } });
  onTestFinished(() => lathe.close());
  return lathe;
}

type Source = 'command' | 'server' | 'file';

const sentences: Record<Exclude<State, 'working'>, Record<Source, RegExp>> = {
  untrusted: {
    command: /A discovery command of this folder was not run, because the folder is not trusted: run lathe trust/,
    server: /An MCP server of this folder was not started, because the folder is not trusted: run lathe trust/,
    file: /Tool files of this folder were not loaded, because the folder is not trusted: run lathe trust/,
  },
  'not agreed': {
    command: /discovery command\b.*Run `lathe trust` to see it and agree/s,
    server: /theirs\b.*Run `lathe trust` to see it and agree/s,
    file: /\.lathe\/tools\b.*Run `lathe trust` to see it and agree/s,
  },
  broken: {
    command: /The discovery command exited with code 1/,
    server: /theirs\b.*(?:closed|ended|exited)/is,
    file: /bad\.ts from \.lathe\/tools skipped: it exports no tool/,
  },
};

/** A model reads only that something is wrong, never the words of a source. */
const someTools = /Some tools could not be loaded: run lathe doctor/;

function expected(surface: string, state: Exclude<State, 'working'>): RegExp[] {
  const { command, server, file } = sentences[state];
  if (surface === 'lathe mcp test') return [server];
  if (surface === 'lathe mcp list') return [server];
  if (surface === 'the error for an unknown tool' && state !== 'untrusted') return [someTools];
  // A name without the prefix of a server starts no server.
  if (surface === 'lathe call' && state !== 'untrusted') return [command, file, someTools];
  // Of a source that works, `rejections` of the registry names what it left out.
  if (surface === 'the result of discover()' && state === 'broken') return [command, server];
  return [command, server, file];
}

describe.each(['untrusted', 'not agreed', 'broken'] as const)('sources of tools that are %s are named by', (state) => {
  test.each(Object.entries(surfaces))('%s', { timeout: 60_000 }, async (name, read) => {
    const text = await read(await place(state));
    for (const sentence of expected(name, state)) expect(text).toMatch(sentence);
  });
});

/** What would say that something is missing. */
const missing = /not trusted|not agreed|not started|not run|could not be|cannot be used|skipped|lathe trust/i;

/** Where the tools themselves are shown, and under which names. */
const shown: Record<string, RegExp[]> = {
  'lathe tools': [/^found /m, /^filed /m, /^theirs__echo /m],
  'lathe tools --json': [/"name": ?"found"/, /"name": ?"filed"/, /"name": ?"theirs__echo"/],
  'lathe doctor': [/ok\s+MCP server theirs/],
  'lathe doctor --json': [/"theirs"|theirs/],
  'lathe mcp list': [/theirs {2}\(project\) {2}connected, 1 tool$/m],
  'lathe mcp test': [/theirs/],
  'lathe -p': [/"found"/, /"filed"/, /"theirs__echo"/],
  'the error for an unknown tool': [/^There is no tool named "missing"\.$/],
};

describe('sources of tools that work are not called missing by', () => {
  test.each(Object.entries(surfaces))('%s', { timeout: 60_000 }, async (name, read) => {
    const text = await read(await place('working'));
    expect(text).not.toMatch(missing);
    for (const sign of shown[name] ?? []) expect(text).toMatch(sign);
    if (name === 'the result of discover()' || name === 'lathe serve') expect(text.trim()).toBe('');
  });

  test('a session in a terminal', async () => {
    const { cwd, home } = await place('working');
    const screen = terminal(['console'], { cwd, env: { HOME: home } });
    await screen.shows('This is the console');
    // The sources are asked after the first frame.
    const list = () => {
      screen.type('/tools\r');
      return screen.text();
    };
    await expect.poll(list, { timeout: 25_000, interval: 1000 }).toMatch(/filed[^]*theirs__echo|theirs__echo[^]*filed/);
    await screen.shows('found');
    expect(screen.text()).not.toMatch(missing);
  });
});

test('a session in a terminal begins with the sources that were not started', async () => {
  const { cwd, home } = await place('untrusted');
  const screen = terminal(['console'], { cwd, env: { HOME: home } });
  await screen.shows('Trust this folder?');
  screen.type('\r');
  await screen.shows('MCP server theirs: An MCP server of this folder was not started');
  await screen.shows('discovery command: A discovery command of this folder was not run');
  screen.type('/tools\r');
  await expect.poll(() => screen.text().split('discovery command: ').length, { timeout: 25_000 }).toBe(3);
  screen.type('/mcp\r');
  await screen.shows('theirs: cannot be used: An MCP server of this folder was not started');
});

test("nothing is reported where nothing is missing, and a person's own server starts without trust", async () => {
  const cwd = tempDirectory({ '.lathe/settings.json': JSON.stringify({ mcpServers: { mine: { command: 'false' } } }) });
  const home = tempDirectory();
  expect((await runProgram(['tools'], { cwd: tempDirectory(), home })).stderr).toBe('');
  mkdirSync(join(home, '.lathe'), { mode: 0o700, recursive: true });
  writeFileSync(
    join(home, '.lathe/settings.json'),
    JSON.stringify({ mcpServers: { mine: { command: process.execPath, args: [badMcpServer, 'none'] } } }),
    { mode: 0o600 },
  );
  const { stdout, stderr } = await runProgram(['tools'], { cwd, home });
  expect([stdout, stderr]).toEqual([expect.stringContaining('mine__echo'), '']);
});

test('the doctor does not call a folder broken that is only not trusted', async () => {
  const at = await place('untrusted');
  const { code, stdout } = await runProgram(['doctor'], at);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^note {2}discovery command: A discovery command of/m)]);
});
