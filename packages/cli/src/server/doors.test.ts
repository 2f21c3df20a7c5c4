import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { editor } from '../../../../testing/acp-editor.js';
import { agentServer } from '../../../../testing/agent-server.js';
import { buildProgram, modelVariables, runProgram } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

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

/** Appends the address of every module that the program loads to a file. */
const watcher = {
  'watch.mjs': "import { register } from 'node:module'; register('./hooks.mjs', import.meta.url);",
  'hooks.mjs': `import { appendFileSync } from 'node:fs';
export const load = (url, context, next) => (appendFileSync(process.env.LOADED, url + ' '), next(url, context));`,
};

function watched() {
  const place = tempDirectory({ ...watcher, loaded: '' });
  const chunks = join(import.meta.dirname, '../../dist/chunks');
  const names = readdirSync(chunks);
  const ownerOf = (text: string) => names.filter((name) => readFileSync(join(chunks, name), 'utf8').includes(text));
  const owners = Object.entries(doors).map(([door, text]) => [door, ownerOf(text)] as const);
  expect(owners.map(([door, files]) => [door, files.length])).toEqual(Object.keys(doors).map((door) => [door, 1]));
  return {
    env: { LOADED: join(place, 'loaded'), NODE_OPTIONS: `--import ${join(place, 'watch.mjs')}` },
    loaded: () => {
      const all = readFileSync(join(place, 'loaded'), 'utf8');
      return owners.flatMap(([door, files]) => (files.some((name) => all.includes(name)) ? [door as Door] : []));
    },
  };
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
