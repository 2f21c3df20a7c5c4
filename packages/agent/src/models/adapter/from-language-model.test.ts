import { expect, test } from 'vitest';
import { type LanguageTurn, scriptedLanguageModel } from '../../../../../testing/language-model.js';
import type { Message, ModelEvent, ModelRequest } from '../model.js';
import { ModelError } from '../model-error.js';
import { fromLanguageModel } from './from-language-model.js';

const versions = ['v2', 'v3', 'v4'] as const;
const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
const history: Message[] = [
  { role: 'user', parts: [{ text: 'look' }, image] },
  {
    role: 'model',
    provider: 'test-provider',
    parts: [
      { text: 'hm', thought: true, thoughtSignature: '{"test":{"signature":"signed"}}' },
      { functionCall: { id: 'a', name: 'ls', args: { path: '/' } } },
      { functionCall: { id: 'b', name: 'ls', args: {} } },
    ],
  },
  {
    role: 'tool',
    parts: [
      { functionResponse: { id: 'a', name: 'ls', response: { output: 'here' }, parts: [image] } },
      { functionResponse: { id: 'b', name: 'ls', response: { error: 'gone' } } },
    ],
  },
];
const request: ModelRequest = { system: 's', history, tools: [{ name: 'ls', description: 'Lists.' }] };
const details = {
  supports: { images: true, tools: true, pdf: false },
  retry: { maxRetries: 1, firstDelayMs: 0, maxDelayMs: 0 },
};

async function ask(version: (typeof versions)[number], script: LanguageTurn[], asked = request) {
  const language = scriptedLanguageModel(version, script);
  const events: ModelEvent[] = [];
  const signal = new AbortController().signal;
  for await (const event of fromLanguageModel(language, details).stream(asked, signal)) events.push(event);
  return { events, requests: language.requests };
}

test.each(versions)('%s: reasoning, text, calls and usage arrive as of any other model', async (version) => {
  const { events } = await ask(version, [
    { reasoning: 'thinking', text: 'Listing.', calls: [{ id: 'c', name: 'ls', input: '{"path":"/tmp"}' }] },
  ]);
  expect(events.filter(({ type }) => !type.endsWith('delta'))).toEqual([
    { type: 'call', call: { id: 'c', name: 'ls', args: { path: '/tmp' } } },
    {
      type: 'finish',
      reason: 'calls',
      usage: { inputTokens: 20, outputTokens: 9, cachedInputTokens: 8, reasoningTokens: 4 },
      message: {
        role: 'model',
        provider: 'test-provider',
        parts: [
          { text: 'thinking', thought: true, thoughtSignature: '{"test":{"signature":"signed"}}' },
          { text: 'Listing.' },
          { functionCall: { id: 'c', name: 'ls', args: { path: '/tmp' } } },
        ],
      },
    },
  ]);
});

const media = {
  v2: { type: 'media', data: 'AAAA', mediaType: 'image/png' },
  v3: { type: 'image-data', data: 'AAAA', mediaType: 'image/png' },
  v4: { type: 'file', data: { type: 'data', data: 'AAAA' }, mediaType: 'image/png' },
};

test.each(versions)('%s: the prompt has its shape', async (version) => {
  const { requests } = await ask(version, [{ text: 'ok' }]);
  const data = version === 'v4' ? { type: 'data', data: 'AAAA' } : 'AAAA';
  expect(requests[0]).toMatchObject({
    tools: [{ type: 'function', name: 'ls', description: 'Lists.', inputSchema: { type: 'object', properties: {} } }],
    prompt: [
      { role: 'system', content: 's' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'file', mediaType: 'image/png', data },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', providerOptions: { test: { signature: 'signed' } } },
          { type: 'tool-call', toolCallId: 'a', toolName: 'ls', input: { path: '/' } },
          { type: 'tool-call', toolCallId: 'b', toolName: 'ls', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'ls',
            output: { type: 'content', value: [{ type: 'text', text: 'here' }, media[version]] },
          },
          { toolCallId: 'b', output: { type: 'error-text', value: expect.stringContaining('gone') as string } },
        ],
      },
    ],
  });
});

const whole = { id: 'c', name: 'ls', input: '{"path":"/"}' };
const half = { id: 'c', name: 'ls', input: '{"path":"/' };

test.each<[string, LanguageTurn]>([
  ['the stream ends without a finish', { calls: [whole], finish: null }],
  ['half a call and no finish', { calls: [half], finish: null }],
  ['an error after a whole call', { calls: [whole], error: new Error('cut'), finish: null }],
  ['an error, and then a finish as if nothing had happened', { calls: [whole], error: new Error('x'), finish: 'stop' }],
  ['a finish of unknown reason', { calls: [whole], finish: 'unknown' }],
  ['a finish of another reason', { calls: [whole], finish: 'other' }],
  ['a finish with an error', { calls: [whole], finish: 'error' }],
])('nothing runs after %s; the request is repeated', async (_, turn) => {
  for (const version of versions) {
    const { events, requests } = await ask(version, [turn, { text: 'again' }]);
    expect(requests).toHaveLength(2);
    expect(events.filter(({ type }) => type === 'call' || type === 'broken-call')).toEqual([]);
    await expect(ask(version, [turn])).rejects.toThrow(ModelError);
  }
});

test.each<[string, LanguageTurn]>([
  ['the output limit', { calls: [whole], finish: 'length' }],
  ['a filter', { calls: [whole], finish: 'content-filter' }],
  ['arguments that are cut', { calls: [half], finish: 'tool-calls' }],
  ['a missing name', { calls: [{ ...whole, name: '' }], finish: 'tool-calls' }],
])('%s breaks the call', async (_, turn) => {
  for (const version of versions) {
    const { events } = await ask(version, [turn]);
    expect(events.map(({ type }) => type)).toEqual(['broken-call', 'finish']);
  }
});

test('a call that the provider runs itself is content', async () => {
  const { events } = await ask('v4', [
    { text: 'found', calls: [{ ...whole, providerExecuted: true }], finish: 'stop' },
  ]);
  expect(events.at(-1)).toMatchObject({ reason: 'stop', message: { parts: [{ text: 'found' }] } });
});

test('errors of the SDK say what to do, and only those that may pass are retried', async () => {
  const refusal = Object.assign(new Error('no'), {
    statusCode: 401,
    responseHeaders: {},
    responseBody: '{"error":{"message":"bad token"}}',
  });
  const error = await ask('v3', [{ refusal }]).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ kind: 'auth', message: expect.stringContaining('bad token') as string });
  const busy = Object.assign(new Error('busy'), { statusCode: 529 });
  const { requests } = await ask('v3', [{ refusal: busy }, { text: 'ok' }]);
  expect(requests).toHaveLength(2);
});

test('effort is an option of its own in v4, and one of the provider before', async () => {
  const asked = { ...request, effort: 'max' as const };
  expect((await ask('v4', [{ text: 'ok' }], asked)).requests[0]).toMatchObject({ reasoning: 'max' });
  expect((await ask('v2', [{ text: 'ok' }], asked)).requests[0]).toMatchObject({
    providerOptions: { 'test-provider': { reasoningEffort: 'high' } },
  });
});

test('a version that nobody knows is rejected', () => {
  const model = { ...scriptedLanguageModel('v4', []), specificationVersion: 'v9' };
  expect(() => fromLanguageModel(model)).toThrow('v9');
});

/** A model whose stream has exactly these parts, and then does what `end` says. */
function rawModel(parts: readonly object[], end: 'close' | 'stall' = 'close', fields: object = {}) {
  return {
    ...scriptedLanguageModel('v4', []),
    ...fields,
    doStream: async () => ({
      stream: new ReadableStream<object>({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          if (end === 'close') controller.close();
        },
      }),
    }),
  };
}

async function askRaw(parts: readonly object[], fields: object = {}) {
  const events: ModelEvent[] = [];
  const model = fromLanguageModel(rawModel(parts, 'close', fields), details);
  for await (const event of model.stream(request, new AbortController().signal)) events.push(event);
  return events;
}

const finish = { type: 'finish', finishReason: { unified: 'stop' }, usage: {} };
const lsCall = (input: unknown) => ({ type: 'tool-call', toolCallId: 'c', toolName: 'ls', input });

test('reasoning keeps its signature, whether it comes with the beginning, a piece or the end', async () => {
  const events = await askRaw([
    { type: 'reasoning-start', id: '0', providerMetadata: { anthropic: { redactedData: 'hidden' } } },
    { type: 'reasoning-end', id: '0' },
    { type: 'reasoning-start', id: '1' },
    { type: 'reasoning-delta', id: '1', delta: 'hm' },
    { type: 'reasoning-delta', id: '1', delta: '', providerMetadata: { anthropic: { signature: 'signed' } } },
    { type: 'reasoning-end', id: '1' },
    { type: 'text-start', id: '2' },
    { type: 'text-delta', id: '2', delta: 'yes' },
    { type: 'text-end', id: '2' },
    finish,
  ]);
  expect(events.at(-1)).toMatchObject({
    message: {
      parts: [
        { text: '', thought: true, thoughtSignature: '{"anthropic":{"redactedData":"hidden"}}' },
        { text: 'hm', thought: true, thoughtSignature: '{"anthropic":{"signature":"signed"}}' },
        { text: 'yes' },
      ],
    },
  });
});

test('a call that is delivered twice runs once, and one whose input is a list never', async () => {
  const twice = await askRaw([lsCall('{"path":"/"}'), lsCall('{"path":"/"}'), finish]);
  expect(twice.map(({ type }) => type)).toEqual(['call', 'finish']);
  expect(twice.at(-1)).toMatchObject({ message: { parts: [{ functionCall: { id: 'c' } }] } });
  const listed = await askRaw([lsCall(['/']), finish]);
  expect(listed.map(({ type }) => type)).toEqual(['broken-call', 'finish']);
});

test('an abort ends a stream that does not listen to it', async () => {
  const controller = new AbortController();
  const model = fromLanguageModel(rawModel([{ type: 'text-delta', id: 't', delta: 'a' }], 'stall'), details);
  const events = model.stream(request, controller.signal)[Symbol.asyncIterator]();
  await events.next();
  const next = events.next();
  controller.abort(new Error('stop'));
  await expect(next).rejects.toThrow('stop');
});

test.each([
  ['anthropic.messages', { anthropic: { cacheCreationInputTokens: 300 } }],
  ['amazon-bedrock', { bedrock: { usage: { cacheWriteInputTokens: 300 } } }],
])('v2 of %s counts cached tokens apart from the input', async (provider, providerMetadata) => {
  const counts = { inputTokens: 20, outputTokens: 9, cachedInputTokens: 4_000 };
  const end = { type: 'finish', finishReason: 'stop', usage: counts, providerMetadata };
  const text = { type: 'text-delta', id: 't', delta: 'hi' };
  const events = await askRaw([text, end], { specificationVersion: 'v2', provider });
  expect(events.at(-1)).toMatchObject({
    usage: { inputTokens: 4_320, outputTokens: 9, cachedInputTokens: 4_000, cacheWriteTokens: 300 },
  });
});
