import { beforeAll, expect, test } from 'vitest';
import { editor } from '../../../../testing/acp-editor.js';
import { agentServer } from '../../../../testing/agent-server.js';
import { buildProgram, modelVariables, runProgram } from '../../../../testing/lathe-program.js';
import { chunksWith, watchChunks } from '../../../../testing/loaded-chunks.js';
import { modelServer } from '../../../../testing/model-server.js';

beforeAll(buildProgram, 300_000);

/** A text that only the code of this door has. */
const doors = {
  terminal: 'Ctrl+C again',
  editor: 'the session was closed',
  page: 'The connection was lost. Trying again',
  headless: 'Ignored on stdin',
  agentServer: '/openapi.json lists what there is',
  toolServer: 'Tools for the folder',
};

type Door = keyof typeof doors;

function watched() {
  const { env, isLoaded } = watchChunks();
  const owners = Object.entries(doors).map(([door, text]) => [door, chunksWith(text)] as const);
  expect(owners.map(([door, files]) => [door, files.length])).toEqual(Object.keys(doors).map((door) => [door, 1]));
  return { env, loaded: () => owners.flatMap(([door, files]) => (files.some(isLoaded) ? [door as Door] : [])) };
}

test('the agent server loads no other door', async () => {
  const { env, loaded } = watched();
  const { client, url } = await agentServer([{ text: 'hi' }], { env });
  const { id } = await client.createSession();
  await client.prompt(id, 'go');
  for await (const { type } of client.events(id, { signal: AbortSignal.timeout(20_000) }))
    if (type === 'prompt-end') break;
  expect(loaded()).toEqual(['agentServer']);
  // The page is loaded when somebody opens it.
  await (await fetch(url.origin)).text();
  expect(loaded()).toEqual(['page', 'agentServer']);
});

test('lathe acp loads no other door', async () => {
  const { env, loaded } = watched();
  const at = await editor({ env, script: [{ text: 'hi' }] });
  await at.prompt((await at.open()).sessionId, 'go');
  await at.leave();
  expect(loaded()).toEqual(['editor']);
});

test.each<[Door[], string[], string]>([
  [[], ['-p', 'go'], ''],
  [
    ['headless'],
    ['-p', '--input-format', 'stream-json', '-o', 'stream-json'],
    '{"type":"user","message":{"content":"go"}}\n',
  ],
  [['toolServer'], ['serve'], ''],
])('%j is all that lathe %j loads', async (expected, args, input) => {
  const { env, loaded } = watched();
  const server = await modelServer([{ text: 'hi' }]);
  await runProgram(args, { input, env: { ...env, ...modelVariables('openai', server.url) } });
  expect(loaded()).toEqual(expected);
});
