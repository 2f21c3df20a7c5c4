import { expect, test } from 'vitest';
import type { Message, ModelEvent, ModelRequest } from '../../model.js';
import { Answer } from '../answer.js';
import type { Endpoint } from '../wire-format.js';
import { anthropic } from './anthropic.js';

const endpoint: Endpoint = {
  provider: 'anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  model: 'claude',
  supports: { images: true, tools: true, pdf: true },
};
const request: ModelRequest = {
  system: 's',
  history: [{ role: 'user', parts: [{ text: 'hi' }] }],
  tools: [{ name: 'ls' }],
};

function read(chunks: object[]): ModelEvent[] {
  const answer = new Answer(request, 'anthropic');
  for (const chunk of chunks) anthropic.read({ ...chunk }, answer, endpoint);
  return [...answer.takeDeltas(), ...answer.finish()];
}

function messageOf(events: ModelEvent[]): Message {
  const last = events.at(-1);
  return last?.type === 'finish' ? last.message : { role: 'model', parts: [] };
}

const start = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const delta = (index: number, fields: object) => ({ type: 'content_block_delta', index, delta: fields });
const end = (stop_reason: string) => ({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 5 } });

test('thinking, encrypted thinking and a call go back block by block', () => {
  const events = read([
    start(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'one ' }),
    delta(0, { type: 'thinking_delta', thinking: 'two' }),
    delta(0, { type: 'signature_delta', signature: 'sig' }),
    start(1, { type: 'redacted_thinking', data: 'encrypted' }),
    start(2, { type: 'thinking', thinking: 'three', signature: 'sig3' }),
    start(3, { type: 'tool_use', id: 'toolu_1', name: 'ls', input: {} }),
    end('tool_use'),
  ]);
  const body = anthropic.body({ ...request, history: [...request.history, messageOf(events)] }, endpoint);
  expect(body).toMatchObject({
    messages: [
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'one two', signature: 'sig' },
          { type: 'redacted_thinking', data: 'encrypted' },
          { type: 'thinking', thinking: 'three', signature: 'sig3' },
          { type: 'tool_use', id: 'toolu_1', name: 'ls', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true }] },
    ],
  });
});

test('an answer that was not streamed is read whole', () => {
  const content = [
    { type: 'text', text: 'hm' },
    { type: 'tool_use', id: 'a', name: 'ls', input: { path: 'x' } },
  ];
  const usage = { input_tokens: 3, output_tokens: 4 };
  expect(read([{ type: 'message', content, stop_reason: 'tool_use', usage }])).toMatchObject([
    { type: 'text-delta', text: 'hm' },
    { type: 'call', call: { id: 'a', name: 'ls', args: { path: 'x' } } },
    { type: 'finish', reason: 'calls', usage: { inputTokens: 3, outputTokens: 4 } },
  ]);
});

test('cached tokens are part of the input, and the last chunk does not undo that', () => {
  const usage = { input_tokens: 10, cache_read_input_tokens: 90, cache_creation_input_tokens: 5, output_tokens: 1 };
  const last = { ...end('end_turn'), usage: { input_tokens: 10, output_tokens: 7 } };
  expect(read([{ type: 'message_start', message: { usage } }, last]).at(-1)).toMatchObject({
    usage: { inputTokens: 105, outputTokens: 7, cachedInputTokens: 90, cacheWriteTokens: 5 },
  });
});

test('the last chunk may count more input than the first', () => {
  const last = { ...end('end_turn'), usage: { input_tokens: 61, output_tokens: 7 } };
  const first = { type: 'message_start', message: { usage: { input_tokens: 43, output_tokens: 1 } } };
  expect(read([first, last]).at(-1)).toMatchObject({ usage: { inputTokens: 61, outputTokens: 7 } });
  const zero = { ...end('end_turn'), usage: { input_tokens: 0, output_tokens: 7 } };
  expect(read([first, zero]).at(-1)).toMatchObject({ usage: { inputTokens: 43, outputTokens: 7 } });
});

test('a tool that the provider runs itself is not a call', () => {
  const events = read([
    start(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
    delta(0, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
    start(1, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }),
    start(2, { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'echo', server_name: 's', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{}' }),
    start(3, { type: 'text', text: '' }),
    delta(3, { type: 'text_delta', text: 'found it' }),
    end('end_turn'),
  ]);
  expect(events.map(({ type }) => type)).toEqual(['text-delta', 'finish']);
  expect(events.at(-1)).toMatchObject({ reason: 'stop', message: { parts: [{ text: 'found it' }] } });
});

test.each([
  ['end_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'filter'],
  ['something_new', 'other'],
])('%s means %s', (stop_reason, reason) => {
  expect(read([end(stop_reason)]).at(-1)).toMatchObject({ reason });
});

// RX13
test('unknown events, blocks and deltas are skipped, an error is thrown', () => {
  expect(
    read([{ type: 'ping' }, { type: 'new' }, start(0, { type: 'new' }), delta(0, { type: 'new' }), end('end_turn')]),
  ).toHaveLength(1);
  expect(() => read([{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }])).toThrow(
    /trouble answering/,
  );
});

test('an image that a tool returned is inside its result', () => {
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
  const body = JSON.parse(JSON.stringify(anthropic.body({ ...request, history }, endpoint))) as {
    messages: { content: { id?: string; tool_use_id?: string }[] }[];
  };
  const id = body.messages[1]?.content[0]?.id;
  expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(body.messages[2]?.content[0]).toMatchObject({
    tool_use_id: id,
    content: [
      { type: 'text', text: 'a picture' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ],
  });
});

test('arguments that arrive twice and differ are not run', () => {
  const twice = (partial_json: string) =>
    read([
      start(0, { type: 'tool_use', id: 'a', name: 'ls', input: { path: '/a' } }),
      delta(0, { type: 'input_json_delta', partial_json }),
      end('tool_use'),
    ]).map(({ type }) => type);
  expect(twice('{"path": "/a"}')).toEqual(['call', 'finish']);
  expect(twice('{"path":"/b"}')).toEqual(['broken-call', 'finish']);
});
