import { expect, test } from 'vitest';
import type { ModelEvent, ModelRequest } from '../../model.js';
import { Answer } from '../answer.js';
import type { Endpoint } from '../wire-format.js';
import { gemini } from './gemini.js';

const endpoint: Endpoint = {
  provider: 'gemini',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  model: 'gemini-2.5-pro',
  supports: { images: true, tools: true, pdf: true },
};
const request: ModelRequest = {
  system: 's',
  history: [{ role: 'user', parts: [{ text: 'hi' }] }],
  tools: [{ name: 'ls' }],
};

function read(chunks: object[]): ModelEvent[] {
  const answer = new Answer(request, 'gemini');
  for (const chunk of chunks) gemini.read({ ...chunk }, answer, endpoint);
  return [...answer.takeDeltas(), ...answer.finish()];
}

const parts = (list: object[], finishReason?: string) => ({ candidates: [{ content: { parts: list }, finishReason }] });

test('calls without ids, with the same id or without arguments are each their own', () => {
  const events = read([
    parts([{ functionCall: { name: 'ls' } }, { functionCall: { name: 'ls', args: { path: 'x' } } }]),
    parts(
      [{ functionCall: { id: 'a', name: 'ls', args: {} } }, { functionCall: { id: 'a', name: 'ls', args: {} } }],
      'STOP',
    ),
  ]);
  const calls = events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
  expect(calls.map(({ args }) => args)).toEqual([{}, { path: 'x' }, {}, {}]);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(4);
});

test('a call without a name, or whose arguments are not an object, is broken', () => {
  const events = read([parts([{ functionCall: { name: 'ls', args: ['x'] } }, { functionCall: { args: {} } }], 'STOP')]);
  expect(events.filter(({ type }) => type === 'broken-call')).toHaveLength(2);
  expect(events.filter(({ type }) => type === 'call')).toHaveLength(0);
});

test.each([
  [parts([], 'SAFETY'), 'filter'],
  [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, 'filter'],
  [parts([], 'MAX_TOKENS'), 'length'],
  [parts([], 'MALFORMED_FUNCTION_CALL'), 'other'],
  [parts([{ text: 'x' }], 'STOP'), 'stop'],
])('%j ends with %s', (chunk, reason) => {
  expect(read([chunk]).at(-1)).toMatchObject({ type: 'finish', reason });
});

test('thinking counts as output', () => {
  const usageMetadata = {
    promptTokenCount: 9,
    candidatesTokenCount: 2,
    thoughtsTokenCount: 30,
    cachedContentTokenCount: -1,
  };
  expect(read([{ ...parts([{ text: 'x' }], 'STOP'), usageMetadata }]).at(-1)).toMatchObject({
    usage: { inputTokens: 9, outputTokens: 32, reasoningTokens: 30, cachedInputTokens: 0 },
  });
});

test('a schema goes to the API where it takes one, else into the instructions', () => {
  const responseSchema = { type: 'object', properties: { answer: { type: 'string' } } };
  expect(gemini.body({ ...request, tools: [], responseSchema }, endpoint)).toMatchObject({
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: responseSchema },
    systemInstruction: { parts: [{ text: 's' }] },
  });
  expect(JSON.stringify(gemini.body({ ...request, responseSchema }, endpoint))).toContain('valid under this schema');
});

test('calls of another model are marked as such, so that the API does not ask for their signatures', () => {
  const call = {
    role: 'model' as const,
    parts: [{ functionCall: { id: 'x', name: 'ls', args: {} } }],
    provider: 'openai',
  };
  expect(gemini.body({ ...request, history: [...request.history, call] }, endpoint)).toMatchObject({
    contents: [{}, { parts: [{ thoughtSignature: 'skip_thought_signature_validator' }] }, { role: 'user' }],
  });
});

const piece = (functionCall: object) => parts([{ functionCall }]);
const value = (jsonPath: string, fields: object) => ({ jsonPath, ...fields });

test('arguments that arrive value by value make one call', () => {
  const events = read([
    piece({ name: 'ls', id: 'a', willContinue: true }),
    piece({ partialArgs: [value('$.path', { stringValue: '/tm', willContinue: true })], willContinue: true }),
    piece({ partialArgs: [value('$.path', { stringValue: 'p' })], willContinue: true }),
    piece({
      partialArgs: [
        value('$.options.depth', { numberValue: 2 }),
        value("$.options['all files']", { boolValue: true }),
        value('$.ignore[0]', { stringValue: 'dist' }),
        value('$.ignore[1]', { nullValue: 'NULL_VALUE' }),
      ],
      willContinue: true,
    }),
    piece({}),
    parts([], 'STOP'),
  ]);
  expect(events.filter(({ type }) => type !== 'finish')).toEqual([
    {
      type: 'call',
      call: {
        id: 'a',
        name: 'ls',
        args: { path: '/tmp', options: { depth: 2, 'all files': true }, ignore: ['dist', null] },
      },
    },
  ]);
});

test.each([
  ['the end is missing', [{ name: 'ls', willContinue: true }]],
  ['a path is not one place', [{ name: 'ls', partialArgs: [value('$..path', { stringValue: 'x' })] }]],
  ['a list has a gap', [{ name: 'ls', partialArgs: [value('$.a[3]', { stringValue: 'x' })] }]],
  [
    'a value is both text and object',
    [{ name: 'ls', partialArgs: [value('$.a', { stringValue: 'x' }), value('$.a.b', { stringValue: 'y' })] }],
  ],
  ['the name is missing', [{ partialArgs: [value('$.a', { stringValue: 'x' })] }]],
  ['a value has no path', [{ name: 'ls', partialArgs: [value('', { stringValue: 'x' })] }]],
])('a call in pieces never runs when %s', (_, calls) => {
  const events = read([...calls.map(piece), parts([], 'STOP')]);
  expect(events.map(({ type }) => type)).toEqual(['broken-call', 'finish']);
});

test('a piece never changes another call, nor the prototype of its own', () => {
  const events = read([
    piece({ name: 'ls', args: { path: '/a' } }),
    piece({ name: 'ls', willContinue: true }),
    piece({ partialArgs: [value('$.__proto__.path', { stringValue: '/b' })] }),
    parts([], 'STOP'),
  ]);
  const calls = events.flatMap((event) => (event.type === 'call' ? [event.call.args] : []));
  expect(calls.map((args) => args['path'])).toEqual(['/a', undefined]);
  expect(calls.map((args) => Object.keys(args))).toEqual([['path'], ['__proto__']]);
});

test('calls beside a malformed one are asked for again', () => {
  const call = parts([{ functionCall: { name: 'ls', args: {} } }], 'MALFORMED_FUNCTION_CALL');
  expect(() => read([call])).toThrow(expect.objectContaining({ isTransient: true }));
});
