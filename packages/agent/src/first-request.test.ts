import { join } from 'node:path';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { collect } from '../../../testing/agent-kit.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { createAgentLathe } from './create-agent-lathe.js';
import { bodyText } from './models/http/remote-model.js';
import type { ModelRequest } from './models/model.js';
import { ScriptedModel } from './models/replay/scripted.js';
import { anthropic } from './models/wire/anthropic/anthropic.js';
import { gemini } from './models/wire/gemini/gemini.js';
import { openai } from './models/wire/openai/openai.js';
import { openSession } from './open-session.js';

const mostTokens = 2300;
const mostPerTool = 130;

const count = (text: string): number => encode(text).length;

/** What the model of a new session is sent for a prompt of one word, with every built-in tool there. */
async function firstRequest(files: Record<string, string> = {}): Promise<ModelRequest> {
  const directory = tempDirectory(files);
  const lathe = await createAgentLathe({
    cwd: directory,
    env: {},
    home: directory,
    latheHome: join(directory, '.lathe'),
    flags: { 'webSearch.provider': [{ type: 'searxng', baseUrl: 'http://127.0.0.1:1' }] },
  });
  const model = new ScriptedModel([{ text: 'ok' }]);
  const session = await openSession(lathe, { model });
  await collect(session.prompt('go', new AbortController().signal));
  await session.close();
  await lathe.close();
  const [request] = model.requests;
  if (!request) throw new Error('the model was not asked');
  return request;
}

const endpoint = {
  provider: 'any',
  baseUrl: 'http://127.0.0.1/v1',
  model: 'm',
  supports: { images: false, tools: true, pdf: false },
};

test('all 16 tools are declared in the first request', async () => {
  const { tools } = await firstRequest();
  expect(tools).toHaveLength(16);
});

test.each([
  ['openai', openai],
  ['anthropic', anthropic],
  ['gemini', gemini],
])(`the first request in the format of %s has at most ${mostTokens} tokens`, async (_name, wire) => {
  expect(count(bodyText(wire.body(await firstRequest(), endpoint)))).toBeLessThanOrEqual(mostTokens);
});

test(`a declaration has at most ${mostPerTool} tokens on average`, async () => {
  const { tools } = await firstRequest();
  const tokens = tools.map(({ name, description, parametersJsonSchema }) =>
    count(JSON.stringify({ name, description, parameters: parametersJsonSchema })),
  );
  const all = tokens.reduce((sum, each) => sum + each, 0);
  expect(all / tools.length).toBeLessThanOrEqual(mostPerTool);
});

/** Skills of the person with a description of 137 characters, as in the examples of the specification. */
const skills = (number: number) =>
  Object.fromEntries(
    Array.from({ length: number }, (_, index) => [
      `.claude/skills/pdf-forms-${index}/SKILL.md`,
      '---\ndescription: Extract text and tables from PDF files, fill forms, merge documents. Use when working with PDF files or when the person mentions forms.\n---\nBody.\n',
    ]),
  );

test('the first skill costs at most 110 tokens, each further one at most 40', async () => {
  const prices = await Promise.all(
    [0, 1, 11].map(async (number) => count(bodyText(openai.body(await firstRequest(skills(number)), endpoint)))),
  );
  const [none = 0, one = 0, eleven = 0] = prices;
  expect(one - none).toBeLessThanOrEqual(110);
  expect((eleven - one) / 10).toBeLessThanOrEqual(40);
  expect(one).toBeGreaterThan(none);
});
