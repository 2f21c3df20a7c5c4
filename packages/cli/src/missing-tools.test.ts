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

/** A folder with a discovery command and a server, both of which fail when they are started. */
async function place(state: State): Promise<Place> {
  const settings = {
    tools: { toolDiscoveryCommand: 'false', toolCallCommand: 'true' },
    mcpServers: { theirs: { command: 'false' } },
  };
  const [cwd, home] = [tempDirectory({ '.lathe/settings.json': JSON.stringify(settings) }), tempDirectory()];
  if (state !== 'untrusted') await runProgram(['trust', ...(state === 'broken' ? ['--yes'] : [])], { cwd, home });
  return { cwd, home };
}

type State = 'untrusted' | 'not agreed' | 'broken';

/** What a person or a model reads there. */
const surfaces: Record<string, (place: Place) => Promise<string>> = {
  'lathe tools': async (at) => (await runProgram(['tools'], at)).stderr,
  'lathe tools --json': async (at) => (await runProgram(['tools', '--json'], at)).stderr,
  'lathe doctor': async (at) => (await runProgram(['doctor'], at)).stdout,
  'lathe doctor --json': async (at) => (await runProgram(['doctor', '--json'], at)).stdout,
  'lathe mcp test': async (at) => (await runProgram(['mcp', 'test', 'theirs'], at)).stderr,
  'lathe call': async (at) => (await runProgram(['call', 'missing'], at)).stderr,
  'lathe -p': async (at) => {
    const model = await modelServer([{ text: 'hi' }]);
    return (await runProgram(['-p', 'hi'], { ...at, env: modelVariables('openai', model.url) })).stderr;
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

/** On every surface, whichever of the two sources it names. */
const sentences: Record<State, RegExp> = {
  untrusted: /(?:command of this folder was not run|server of this folder was not started), because the folder is not/,
  'not agreed': /Run `lathe trust` to see it and agree|run lathe doctor/,
  broken: /exited with code 1|Connection closed|ended|run lathe doctor/i,
};

describe.each(['untrusted', 'not agreed', 'broken'] as const)('sources of tools that are %s are named by', (state) => {
  test.each(Object.keys(surfaces))('%s', { timeout: 60_000 }, async (name) => {
    expect(await surfaces[name]?.(await place(state))).toMatch(sentences[state]);
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
