import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { modelServer } from '../../../../../testing/model-server.js';
import type { Model, ModelEvent } from '../model.js';
import { chooseModel } from './choose-model.js';
import { findModels } from './find-models.js';
import { findLocalServers, type LocalServerName } from './local.js';
import { formatModelSetup } from './model-setup.js';
import type { ModelSources } from './model-sources.js';

const signal = new AbortController().signal;
/** Ports where nobody listens, so that no test depends on what runs on this machine. */
const nowhere: Record<LocalServerName, string> = {
  ollama: 'http://127.0.0.1:1',
  lmstudio: 'http://127.0.0.1:1',
  llamacpp: 'http://127.0.0.1:1',
  vllm: 'http://127.0.0.1:1',
};

async function choose(sources: Partial<ModelSources>) {
  const choice = await chooseModel({ env: {}, localAddresses: nowhere, ...sources }, signal);
  return choice.status === 'none' ? choice.setup : { provider: choice.model.provider, id: choice.model.id };
}

test.each<[string, Partial<ModelSources>, string, string]>([
  ['a key of OpenAI', { env: { OPENAI_API_KEY: 'k' } }, 'openai', 'gpt-5'],
  ['OPENAI_MODEL', { env: { OPENAI_API_KEY: 'k', OPENAI_MODEL: 'm' } }, 'openai', 'm'],
  ['a base URL without a key', { env: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_MODEL: 'm' } }, 'openai', 'm'],
  ['a key of DashScope', { env: { DASHSCOPE_API_KEY: 'k' } }, 'dashscope', 'qwen3-coder-plus'],
  ['a key of Google under its other name', { env: { GOOGLE_API_KEY: 'k' } }, 'gemini', 'gemini-flash-latest'],
  [
    'a bare name of the provider whose key is set',
    { name: 'claude-x', env: { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' } },
    'anthropic',
    'claude-x',
  ],
  [
    'provider/name',
    { name: 'deepseek/deepseek-chat', env: { OPENAI_API_KEY: 'k', DEEPSEEK_API_KEY: 'k' } },
    'deepseek',
    'deepseek-chat',
  ],
  [
    'a name with a slash on OpenRouter',
    { name: 'openrouter/qwen/qwen3-coder', env: { OPENROUTER_API_KEY: 'k' } },
    'openrouter',
    'qwen/qwen3-coder',
  ],
  ['a flag before the settings', { name: 'b', settings: { name: 'a' }, env: { OPENAI_API_KEY: 'k' } }, 'openai', 'b'],
  [
    'settings before the environment',
    { settings: { name: 'a', provider: 'anthropic', apiKey: 'k' }, env: { OPENAI_API_KEY: 'k' } },
    'anthropic',
    'a',
  ],
  [
    'a name with a slash where only OpenRouter is set',
    { name: 'anthropic/claude', env: { OPENROUTER_API_KEY: 'k' } },
    'openrouter',
    'anthropic/claude',
  ],
  [
    'a name with a slash of the server at the base URL',
    { name: 'openai/gpt-oss', env: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' } },
    'openai',
    'openai/gpt-oss',
  ],
  [
    'a known provider behind OPENAI_BASE_URL',
    {
      env: {
        OPENAI_API_KEY: 'k',
        OPENAI_MODEL: 'm',
        OPENAI_BASE_URL: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
      },
    },
    'dashscope',
    'm',
  ],
  [
    'a key in the settings and the name of a known family',
    { settings: { name: 'claude-x', apiKey: 'k' } },
    'anthropic',
    'claude-x',
  ],
  [
    'any server by its address',
    { settings: { name: 'a', provider: 'mine', baseUrl: 'http://127.0.0.1:9/v1' } },
    'mine',
    'a',
  ],
])('%s', async (_, sources, provider, id) => {
  expect(await choose(sources)).toEqual({ provider, id });
});

test.each([
  [{ name: 'anthropic/claude' }, /ANTHROPIC_API_KEY/],
  [{ name: 'x', settings: { provider: 'nobody' } }, /No provider is called nobody/],
  [{ env: { OPENAI_BASE_URL: 'http://127.0.0.1:9' } }, /no model/],
  [{ env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'file:///etc/passwd' } }, /not an http/],
  [{ env: { OPENAI_API_KEY: 'k\ney' } }, /OPENAI_API_KEY contains characters/],
  [{ env: { OPENAI_API_KEY: 'k', HTTPS_PROXY: 'socks5://x' } }, /HTTPS_PROXY/],
  [{ settings: { name: 'x', provider: 'openai', apiKey: '$MY_KEY' } }, 'model.apiKey needs the variable MY_KEY'],
  [
    { settings: { name: 'x', baseUrl: 'http://127.0.0.1:9', headers: { 'api-key': 'Bearer ${MY_KEY}' } } },
    'model.headers "api-key" needs the variable MY_KEY, which is not set.',
  ],
])('%j is rejected with a reason', async (sources, message) => {
  await expect(choose(sources)).rejects.toThrow(message);
});

test('without any model it says how to set one up', async () => {
  const setup = await choose({});
  expect(setup).toMatchObject({ problem: expect.stringContaining('No model is configured') as string, found: [] });
  const text = 'problem' in setup ? formatModelSetup(setup) : '';
  expect(text).toContain('ollama pull');
  expect(text).toContain('export DASHSCOPE_API_KEY=');
});

test('a server on this machine that does not offer the model, or does not run, is named', async () => {
  const url = await jsonServer({ '/api/tags': { models: [{ name: 'tiny' }] }, '/api/show': {} });
  const problems = await Promise.all(
    [url, nowhere.ollama].map((ollama) => choose({ name: 'ollama/big', localAddresses: { ...nowhere, ollama } })),
  );
  expect(problems).toMatchObject([
    { problem: 'ollama on this machine does not offer big.', found: [{ models: ['tiny'] }] },
    { problem: 'ollama does not run on this machine.' },
  ]);
  expect(JSON.stringify(problems[0])).toContain('ollama pull big');
});

test('a key goes only to the provider it belongs to', async () => {
  const server = await modelServer([{ text: 'ok' }]);
  const env = { OPENAI_API_KEY: 'openai-secret', ANTHROPIC_API_KEY: 'anthropic-secret' };
  const settings = { name: 'm', baseUrl: `${server.url}/v1` };
  const choice = await chooseModel({ env, settings, localAddresses: nowhere }, signal);
  if (choice.status === 'chosen') await drain(choice.model);
  expect(server.requests).toHaveLength(1);
  expect(JSON.stringify(server.requests)).not.toContain('secret');
});

test('settings of one provider are not used with another', async () => {
  const server = await modelServer([{ text: 'ok' }]);
  const settings = {
    provider: 'mine',
    name: 'm',
    baseUrl: 'http://127.0.0.1:1',
    apiKey: 'mine-1234',
    headers: { 'x-team': 'a' },
  };
  const env = { ANTHROPIC_API_KEY: 'theirs-1234', ANTHROPIC_BASE_URL: server.url };
  const choice = await chooseModel({ name: 'anthropic/claude', env, settings }, signal);
  if (choice.status === 'chosen') await drain(choice.model);
  expect(server.requests[0]?.headers).toMatchObject({ 'x-api-key': 'theirs-1234' });
  expect(JSON.stringify(server.requests)).not.toMatch(/mine-1234|x-team/);
});

test('a listed model has its own wire, address and key', async () => {
  const server = await modelServer([{ text: 'ok' }]);
  const settings = {
    name: 'm',
    apiKey: 'other-1234',
    headers: { 'x-team': 'a' },
    keys: { B_KEY: 'b-5678', A_KEY: 'not this one' },
    providers: {
      openai: [
        { id: 'vendor/fast', baseUrl: `${server.url}/a/v1`, envKey: 'A_KEY' },
        { id: 'open', baseUrl: `${server.url}/c/v1` },
        { id: 'locked', baseUrl: `${server.url}/d/v1`, envKey: 'D_KEY' },
      ],
      anthropic: [{ id: 'deep', baseUrl: `${server.url}/b/v1`, envKey: 'B_KEY' }],
    },
  };
  const env = { OPENAI_API_KEY: 'openai-1234', OPENAI_BASE_URL: 'http://127.0.0.1:1', A_KEY: 'a-5678' };
  for (const name of ['vendor/fast', 'open', 'deep']) {
    const choice = await chooseModel({ name, env, settings, localAddresses: nowhere }, signal);
    if (choice.status === 'chosen') await drain(choice.model);
  }
  const seen = server.requests.map(({ path, headers, body }) => [
    path,
    body['model'],
    headers['x-api-key'] ?? headers.authorization,
  ]);
  expect(seen).toEqual([
    ['/a/v1/chat/completions', 'vendor/fast', 'Bearer a-5678'],
    ['/c/v1/chat/completions', 'open', undefined],
    ['/b/v1/messages', 'deep', 'b-5678'],
  ]);
  expect(JSON.stringify(server.requests)).not.toMatch(/1234|x-team/);
  await expect(choose({ name: 'locked', env, settings })).rejects.toThrow('locked needs a key: set D_KEY.');
});

test('without a name the first listed model whose key is set counts, and all of them are found', async () => {
  const openai = [
    { id: 'a', envKey: 'A_KEY' },
    { id: 'b', name: 'Model B', envKey: 'B_KEY' },
    { id: 'c', envKey: 'B_KEY', baseUrl: 'http://127.0.0.1:9/v1' },
  ];
  const sources = { settings: { providers: { openai } }, env: { B_KEY: 'k' }, localAddresses: nowhere };
  expect(await choose(sources)).toEqual({ provider: 'openai', id: 'b' });
  expect(await choose({ ...sources, name: 'c' })).toEqual({ provider: 'custom', id: 'c' });
  expect(await findModels(sources, signal)).toEqual([
    { name: 'b', origin: 'Model B, in your settings' },
    { name: 'c', origin: 'in your settings' },
  ]);
});

test('a base URL may have a query, and an invalid header is reported', async () => {
  const server = await modelServer([{ text: 'ok' }]);
  const settings = { name: 'm', baseUrl: `${server.url}/v1/?api-version=7` };
  const choice = await chooseModel({ env: {}, settings }, signal);
  if (choice.status === 'chosen') await drain(choice.model);
  expect(server.requests[0]?.path).toBe('/v1/chat/completions?api-version=7');
  const bad = await chooseModel({ env: {}, settings: { ...settings, headers: { 'x-a': 'b\nc' } } }, signal);
  await expect(bad.status === 'chosen' && drain(bad.model)).rejects.toThrow('model.headers');
});

test('headers and the key of the settings are sent', async () => {
  const server = await modelServer([{ text: 'ok' }]);
  const settings = { name: 'm', baseUrl: `${server.url}/v1`, apiKey: 'mine-1234', headers: { 'x-team': 'a' } };
  const choice = await chooseModel({ env: {}, settings }, signal);
  if (choice.status === 'chosen') await drain(choice.model);
  expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Bearer mine-1234', 'x-team': 'a' });
});

async function drain(model: Model): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  const history = [{ role: 'user' as const, parts: [{ text: 'hi' }] }];
  for await (const event of model.stream({ system: '', history, tools: [] }, signal)) events.push(event);
  return events;
}

/** A server that answers these paths with JSON and everything else with 404. */
async function jsonServer(answers: Record<string, object>): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    const answer = answers[request.url ?? ''];
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const find = (addresses: Partial<Record<LocalServerName, string>>) =>
  findLocalServers(signal, { addresses: { ...nowhere, ...addresses }, timeoutMs: 5_000 });

test('Ollama: real window, tools and images as it reports them', async () => {
  const url = await jsonServer({
    '/api/tags': { models: [{ name: 'qwen3:latest' }] },
    '/api/ps': { models: [{ name: 'qwen3:latest', context_length: 16_384 }] },
    '/api/show': { capabilities: ['completion', 'tools', 'vision'], model_info: { 'qwen3.context_length': 262_144 } },
  });
  const [server] = await find({ ollama: url });
  expect(server?.models).toEqual([
    {
      server: 'ollama',
      baseUrl: `${url}/v1`,
      name: 'qwen3:latest',
      contextWindow: 16_384,
      supports: { tools: true, images: true, pdf: false },
      isLoaded: true,
    },
  ]);
  const choice = await chooseModel(
    { name: 'ollama/qwen3', env: {}, localAddresses: { ...nowhere, ollama: url } },
    signal,
  );
  expect(choice).toMatchObject({ status: 'chosen', model: { id: 'qwen3:latest' }, notes: [] });
});

test('LM Studio, llama.cpp and vLLM report window and features in their own ways', async () => {
  const lmstudio = await jsonServer({
    '/api/v0/models': {
      data: [
        { id: 'text-embed', type: 'embeddings' },
        {
          id: 'coder',
          type: 'llm',
          state: 'loaded',
          loaded_context_length: 8_000,
          max_context_length: 99_000,
          capabilities: ['tool_use'],
        },
      ],
    },
  });
  const llamacpp = await jsonServer({
    '/props': {
      default_generation_settings: { n_ctx: 12_288 },
      chat_template: '{{ messages }}',
      modalities: { vision: false },
    },
    '/v1/models': { data: [{ id: 'model.gguf' }] },
  });
  const vllm = await jsonServer({
    '/v1/models': { data: [{ id: 'Qwen/Qwen3', owned_by: 'vllm', max_model_len: 40_960 }] },
  });
  const found = await find({ lmstudio, llamacpp, vllm });
  const facts = found.flatMap(({ models }) =>
    models.map(({ name, contextWindow, supports }) => [name, contextWindow, supports.tools]),
  );
  expect(facts).toEqual([
    ['coder', 8_000, true],
    ['model.gguf', 12_288, false],
    ['Qwen/Qwen3', 40_960, true],
  ]);
});

test('something else on the port is not taken for a model, and a small window is mentioned', async () => {
  expect(
    await find({
      llamacpp: await jsonServer({ '/': {} }),
      vllm: await jsonServer({ '/v1/models': { data: [{ id: 'x' }] } }),
    }),
  ).toEqual([]);
  const url = await jsonServer({ '/api/tags': { models: [{ name: 'tiny' }] }, '/api/show': {} });
  const choice = await chooseModel(
    {
      env: { OLLAMA_HOST: url },
      localAddresses: { lmstudio: nowhere.lmstudio, llamacpp: nowhere.llamacpp, vllm: nowhere.vllm },
    },
    signal,
  );
  expect(choice).toMatchObject({
    status: 'chosen',
    notes: [expect.stringMatching(/tools/), expect.stringMatching(/4096 tokens.*OLLAMA_CONTEXT_LENGTH/)],
  });
});
