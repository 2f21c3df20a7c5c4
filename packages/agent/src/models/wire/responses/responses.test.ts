import { expect, test } from 'vitest';
import type { Message, ModelEvent, ModelRequest } from '../../model.js';
import { Answer } from '../answer.js';
import type { Endpoint } from '../wire-format.js';
import { responses } from './responses.js';

const endpoint: Endpoint = {
  provider: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  model: 'gpt-5.4',
  supports: { images: true, tools: true, pdf: true },
};
const request: ModelRequest = {
  system: 's',
  history: [{ role: 'user', parts: [{ text: 'hi' }] }],
  tools: [{ name: 'ls', parametersJsonSchema: { type: 'object', properties: { path: { type: 'string' } } } }],
};

function read(chunks: object[]): ModelEvent[] {
  const answer = new Answer(request, 'openai');
  for (const chunk of chunks) responses.read({ ...chunk }, answer, endpoint);
  return [...answer.takeDeltas(), ...answer.finish()];
}

const event = (type: string, fields: object) => ({ type: `response.${type}`, ...fields });
const added = (output_index: number, item: object) => event('output_item.added', { output_index, item });
const done = (output_index: number, item: object) => event('output_item.done', { output_index, item });
const completed = (fields: object = {}) => event('completed', { response: { status: 'completed', ...fields } });
const call = (call_id: string, fields: object = {}) => ({ type: 'function_call', call_id, name: 'ls', ...fields });
const thought = (id: string) => ({ type: 'reasoning', id, summary: [], encrypted_content: `encrypted ${id}` });

const calls = (events: ModelEvent[]) => events.flatMap((each) => (each.type === 'call' ? [each.call] : []));
const problems = (events: ModelEvent[]) =>
  events.flatMap((each) => (each.type === 'broken-call' ? [each.problem] : []));

function messageOf(events: ModelEvent[]): Message {
  const last = events.at(-1);
  return last?.type === 'finish' ? last.message : { role: 'model', parts: [] };
}

test('a request keeps nothing on the server and leaves schemas as they are', () => {
  expect(responses.body({ ...request, effort: 'max', maxOutputTokens: 99 }, endpoint)).toEqual({
    model: 'gpt-5.4',
    instructions: 's',
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
    tools: [
      {
        type: 'function',
        name: 'ls',
        description: undefined,
        parameters: { type: 'object', properties: { path: { type: 'string' } } },
        strict: false,
      },
    ],
    store: false,
    stream: true,
    max_output_tokens: 99,
    text: undefined,
    reasoning: { effort: 'xhigh', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
  });
});

test('items that arrive side by side are one message in their order, and go back with their reasoning', () => {
  const events = read([
    added(0, { type: 'reasoning', id: 'rs_1' }),
    added(1, call('a')),
    event('reasoning_summary_text.delta', { output_index: 0, delta: 'first ' }),
    added(2, { type: 'message' }),
    event('output_text.delta', { output_index: 2, delta: 'Listing ' }),
    event('reasoning_summary_part.added', { output_index: 0, summary_index: 1 }),
    event('reasoning_summary_text.delta', { output_index: 0, delta: 'second' }),
    event('function_call_arguments.delta', { output_index: 1, delta: '{"path":' }),
    event('output_text.delta', { output_index: 2, delta: 'both.' }),
    done(2, { type: 'message', content: [{ type: 'output_text', text: 'Listing both.' }], phase: 'commentary' }),
    done(1, call('a', { arguments: '{"path":"/tmp"}', status: 'completed' })),
    done(0, thought('rs_1')),
    completed({ usage: { input_tokens: 9, output_tokens: 5, input_tokens_details: { cached_tokens: 4 } } }),
  ]);
  expect(calls(events)).toEqual([{ id: 'a', name: 'ls', args: { path: '/tmp' } }]);
  expect(events.at(-1)).toMatchObject({
    reason: 'calls',
    usage: { inputTokens: 9, outputTokens: 5, cachedInputTokens: 4 },
  });
  const history = [...request.history, messageOf(events)];
  const { input } = responses.body({ ...request, history }, endpoint) as { input: object[] };
  expect(input.slice(1)).toEqual([
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'first \n\nsecond' }],
      encrypted_content: 'encrypted rs_1',
    },
    { type: 'function_call', call_id: 'a', name: 'ls', arguments: '{"path":"/tmp"}' },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Listing both.', annotations: [] }],
      phase: 'commentary',
    },
    { type: 'function_call_output', call_id: 'a', output: expect.stringContaining('interrupted') as string },
  ]);
});

test('reasoning of another provider, without its content or without what it led to stays away', () => {
  const encrypted = { text: '', thought: true, thoughtSignature: JSON.stringify(thought('rs_1')) };
  const foreign: Message = { role: 'model', parts: [encrypted, { text: 'a' }], provider: 'anthropic' };
  const bare: Message = { role: 'model', parts: [{ text: 'x', thought: true }, { text: 'b' }], provider: 'openai' };
  const last: Message = { role: 'model', parts: [{ text: 'c' }, encrypted], provider: 'openai' };
  const history = [...request.history, foreign, ...request.history, bare, ...request.history, last];
  const { input } = responses.body({ ...request, history }, endpoint) as { input: { type: string }[] };
  expect(input.map(({ type }) => type)).toEqual(Array.from({ length: 6 }, () => 'message'));
});

test.each([
  ['its item is not done', [added(0, call('a', { arguments: '{}' })), completed()]],
  ['its item is incomplete', [done(0, call('a', { arguments: '{"path":"/"}', status: 'incomplete' })), completed()]],
  ['its arguments are cut', [done(0, call('a', { arguments: '{"path":' })), completed()]],
  ['it has no name', [done(0, { type: 'function_call', call_id: 'a', arguments: '{}' }), completed()]],
  [
    'the output limit was reached',
    [
      done(0, call('a', { arguments: '{"path":"/"}' })),
      event('incomplete', { response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } } }),
    ],
  ],
])('a call never runs when %s', (_, chunks) => {
  const events = read(chunks);
  expect([calls(events), problems(events).length]).toEqual([[], 1]);
});

test('what the provider runs itself is not a call, and the last event adds nothing twice', () => {
  const item = call('a', { arguments: '{}', status: 'completed' });
  const events = read([
    added(0, { type: 'web_search_call', id: 'ws' }),
    done(0, { type: 'web_search_call', id: 'ws', status: 'completed' }),
    added(1, item),
    done(1, item),
    completed({ output: [item] }),
  ]);
  expect(calls(events)).toEqual([{ id: 'a', name: 'ls', args: {} }]);
});

test('an answer that was not streamed is read whole', () => {
  const message = { type: 'message', content: [{ type: 'output_text', text: 'hm' }] };
  const output = [thought('rs'), message, call('a', { arguments: '{"path":"x"}' })];
  expect(read([{ object: 'response', status: 'completed', output }])).toMatchObject([
    { type: 'text-delta', text: 'hm' },
    { type: 'call', call: { id: 'a', name: 'ls', args: { path: 'x' } } },
    { type: 'finish', reason: 'calls' },
  ]);
});

test.each([
  [
    event('failed', { response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'slow' } } }),
    /slow/,
  ],
  [{ type: 'error', code: 'context_length_exceeded', message: 'too much' }, /does not fit/],
  [event('cancelled', { response: { status: 'cancelled' } }), /trouble/],
])('%j is an error', (chunk, message) => {
  expect(() => read([chunk])).toThrow(message);
});

test('images and documents that a tool returned are inside its result', () => {
  const history: Message[] = [
    ...request.history,
    { role: 'model', parts: [{ functionCall: { id: 'functions.ls:0', name: 'ls', args: {} } }] },
    {
      role: 'tool',
      parts: [
        {
          functionResponse: {
            id: 'functions.ls:0',
            response: { output: 'a picture' },
            parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
          },
        },
      ],
    },
  ];
  const { input } = responses.body({ ...request, history }, endpoint) as { input: { call_id?: string }[] };
  expect(input[1]?.call_id).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(input[2]).toEqual({
    type: 'function_call_output',
    call_id: input[1]?.call_id,
    output: [
      { type: 'input_text', text: 'a picture' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
    ],
  });
});

test('a call whose item arrives twice under one id runs once, and thoughts stay away from a model that does not think', () => {
  const item = call('a', { arguments: '{"path":"/"}', status: 'completed' });
  const events = read([done(0, thought('rs')), done(1, item), done(2, item), completed()]);
  expect(calls(events)).toEqual([{ id: 'a', name: 'ls', args: { path: '/' } }]);
  const history = [...request.history, messageOf(events)];
  const typesFor = (model: string) =>
    (responses.body({ ...request, history }, { ...endpoint, model }) as { input: { type: string }[] }).input.map(
      ({ type }) => type,
    );
  expect(typesFor('gpt-5.4')).toEqual(['message', 'reasoning', 'function_call', 'function_call_output']);
  expect(typesFor('gpt-4.1')).toEqual(['message', 'function_call', 'function_call_output']);
});

test('input that is put into the cache is counted', () => {
  const usage = {
    input_tokens: 9,
    output_tokens: 1,
    input_tokens_details: { cached_tokens: 2, cache_write_tokens: 5 },
  };
  const message = { type: 'message', content: [{ type: 'output_text', text: 'hi' }] };
  expect(read([done(0, message), completed({ usage })]).at(-1)).toMatchObject({
    usage: { inputTokens: 9, cachedInputTokens: 2, cacheWriteTokens: 5 },
  });
});
