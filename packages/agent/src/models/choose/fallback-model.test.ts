import { expect, test } from 'vitest';
import { modelServer, type ServerScript } from '../../../../../testing/model-server.js';
import type { Message, Model, ModelEvent, ModelRequest } from '../model.js';
import { chooseModel } from './choose-model.js';
import { checkModel } from './find-models.js';
import type { ModelSources } from './model-sources.js';

const signal = new AbortController().signal;
/** Nobody listens there. */
const localAddresses = { ollama: 'http://127.0.0.1:1' };
const user: Message = { role: 'user', parts: [{ text: 'hi' }] };
const noCredit = { fault: { kind: 'status' as const, status: 402, body: '{"error":{"message":"pay first"}}' } };
const tooLong = {
  fault: { kind: 'status' as const, status: 400, body: '{"error":{"message":"prompt is too long"}}' },
};

async function open(script: ServerScript, sources: Partial<ModelSources['settings']>) {
  const server = await modelServer(script);
  const settings = { name: 'first', baseUrl: `${server.url}/v1`, ...sources };
  const options = { retry: { maxRetries: 1, firstDelayMs: 0, maxDelayMs: 0 } };
  const choice = await chooseModel({ env: {}, settings, options, localAddresses }, signal);
  if (choice.status === 'none') throw new Error(choice.setup.problem);
  return { server, model: choice.model };
}

async function ask(model: Model, history = [user], more: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  const request = { system: '', history, tools: [{ name: 'ls' }], ...more };
  for await (const event of model.stream(request, signal)) events.push(event);
  return events;
}

const models = (requests: readonly { body: { readonly [key: string]: unknown } }[]) =>
  requests.map(({ body }) => body['model']);

test('a model without quota gives way to the next, which stays', async () => {
  const { server, model } = await open([noCredit, { text: 'hello' }], { fallbacks: ['second', 'third'] });
  const events = await ask(model);
  expect(events[0]).toEqual({
    type: 'fallback',
    model: 'second',
    reason: `first cannot answer: The account at ${new URL(server.url).host} has no credit or quota left. (402: pay first)`,
  });
  expect(events.at(-1)).toMatchObject({ type: 'finish', message: { parts: [{ text: 'hello' }] } });
  await ask(model);
  expect(models(server.requests)).toEqual(['first', 'second', 'second']);
  expect(model.id).toBe('second');
});

test('a check fails where a fallback would answer, and passes where only an option is rejected', async () => {
  const noQuota = await open([noCredit, { text: 'hello' }], { fallbacks: ['second'] });
  await expect(checkModel(noQuota.model, signal)).rejects.toThrow('pay first');
  const body = '{"error":{"message":"Unknown parameter: stream_options"}}';
  const picky = await open([{ fault: { kind: 'status', status: 400, body } }, { text: 'hello' }], { fallbacks: [] });
  await checkModel(picky.model, signal);
  expect(models(picky.server.requests)).toEqual(['first', 'first']);
});

test('a server that keeps failing is retried first', async () => {
  const down = { fault: { kind: 'status' as const, status: 503 } };
  const { server, model } = await open([down, down, { text: 'ok' }], { fallbacks: ['second'] });
  const events = await ask(model);
  expect(events.map(({ type }) => type)).toEqual(['retry', 'fallback', 'text-delta', 'finish']);
  expect(models(server.requests)).toEqual(['first', 'first', 'second']);
});

test('an answer that broke in the middle of a call is asked for again as a whole, and only the new call arrives', async () => {
  const calls = [{ id: 'a', name: 'ls', args: { path: '/half of it' } }];
  const broken = { calls, fault: { kind: 'end' as const, afterBytes: 700 } };
  const { model } = await open([broken, broken, { calls: [{ id: 'b', name: 'ls', args: {} }] }], {
    fallbacks: ['second'],
  });
  const events = await ask(model);
  expect(events.flatMap((event) => (event.type === 'call' ? [event.call] : []))).toEqual([
    { id: 'b', name: 'ls', args: {} },
  ]);
});

test('a conversation that is too long goes to a larger window only', async () => {
  const sources = { fallbacks: ['small', 'gemini-flash'], contextWindow: undefined };
  const { server, model } = await open([tooLong, { text: 'ok' }], { ...sources, name: 'gpt-oss' });
  await ask(model);
  expect(models(server.requests)).toEqual(['gpt-oss', 'gemini-flash']);
  const none = await open([tooLong], { fallbacks: ['small'], contextWindow: undefined });
  await expect(ask(none.model)).rejects.toThrow('does not fit');
});

test('a wrong key is not hidden by a fallback, and one that cannot be opened is named', async () => {
  const denied = await open([{ fault: { kind: 'status', status: 401 } }], { fallbacks: ['second'] });
  await expect(ask(denied.model)).rejects.toThrow('needs a key');
  const { model } = await open([noCredit, { text: 'ok' }], {
    fallbacks: ['ollama/other', 'third'],
  });
  const [event] = await ask(model);
  expect(event).toMatchObject({
    type: 'fallback',
    model: 'third',
    reason: expect.stringContaining('ollama/other cannot be used') as string,
  });
});

test('the last error is the answer when all fail', async () => {
  const { model } = await open([noCredit], { fallbacks: ['second'] });
  await expect(ask(model)).rejects.toThrow('no credit');
});

test('requests at the same time switch once', async () => {
  const script: ServerScript = [({ body }) => (body['model'] === 'first' ? noCredit : { text: 'ok' })];
  const { server, model } = await open(script, { fallbacks: ['second', 'third'] });
  await Promise.all([ask(model), ask(model), ask(model)]);
  expect(new Set(models(server.requests))).toEqual(new Set(['first', 'second']));
  expect(model.id).toBe('second');
});

test('the answer names the model that wrote it', async () => {
  const { model } = await open([noCredit, { text: 'ok' }], { fallbacks: ['second'] });
  expect((await ask(model)).at(-1)).toMatchObject({ type: 'finish', model: { id: 'second', provider: 'custom' } });
});

test('a fallback that the request refuses is not asked, and is named', async () => {
  const refuses = async ({ id }: { id: string }) => (id === 'second' ? 'too dear.' : undefined);
  const first = await open([noCredit, { text: 'ok' }], { fallbacks: ['second', 'third'] });
  const [event] = await ask(first.model, [user], { refuses });
  expect(event).toMatchObject({ model: 'third', reason: expect.stringContaining('second cannot be used: too dear.') });
  expect(models(first.server.requests)).toEqual(['first', 'third']);
  const only = await open([noCredit], { fallbacks: ['second'] });
  await expect(ask(only.model, [user], { refuses })).rejects.toThrow(/no credit.*second cannot be used: too dear/);
  expect(models(only.server.requests)).toEqual(['first']);
});

test('a fallback whose window is too small is not asked: the history is shortened first', async () => {
  const long: Message = { role: 'user', parts: [{ text: 'word '.repeat(150_000) }] };
  const { server, model } = await open([noCredit, { text: 'ok' }], { name: 'gemini-pro', fallbacks: ['second'] });
  await expect(ask(model, [long])).rejects.toMatchObject({ kind: 'too-long' });
  expect([models(server.requests), model.id]).toEqual([['gemini-pro'], 'second']);
});

test('a key without a provider is never sent to the provider of a fallback', async () => {
  const server = await modelServer([noCredit, { text: 'ok' }]);
  const env = {
    ANTHROPIC_BASE_URL: server.url,
    GEMINI_BASE_URL: `${server.url}/v1beta`,
    GEMINI_API_KEY: 'key-of-gemini',
  };
  const settings = {
    name: 'claude-x',
    apiKey: 'key-of-anthropic',
    headers: { 'x-team': 'a' },
    fallbacks: ['gemini-x'],
  };
  const choice = await chooseModel({ env, settings, localAddresses }, signal);
  if (choice.status === 'none') throw new Error(choice.setup.problem);
  await ask(choice.model);
  const [first, second] = server.requests.map(({ headers }) => headers);
  expect(first).toMatchObject({ 'x-api-key': 'key-of-anthropic', 'x-team': 'a' });
  expect(second).toMatchObject({ 'x-goog-api-key': 'key-of-gemini' });
  expect(JSON.stringify(second)).not.toMatch(/key-of-anthropic|x-team/);
});
