import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../model.js';
import { callsOf, pairHistory, resultAsText } from './paired-history.js';

const call = (id: string): Message => ({ role: 'model', parts: [{ functionCall: { id, name: 'ls', args: {} } }] });
const result = (id: string, output = id): Message => ({
  role: 'tool',
  parts: [{ functionResponse: { id, name: 'ls', response: { output } } }],
});
const user: Message = { role: 'user', parts: [{ text: 'hi' }] };

test('a call without a result gets one that says so', () => {
  expect(
    pairHistory([call('a'), user])
      .flatMap(callsOf)
      .map(({ response }) => resultAsText(response)),
  ).toEqual(['Error: The call was interrupted; whether it had an effect is not known.']);
});

// RX15
test('a result without its call, an empty message and a second result are dropped', () => {
  const turns = pairHistory([
    result('x'),
    { role: 'model', parts: [] },
    user,
    call('a'),
    result('a', 'first'),
    result('a', 'second'),
  ]);
  expect(turns.map(({ role }) => role)).toEqual(['user', 'model']);
  expect(turns.flatMap(callsOf).map(({ response }) => resultAsText(response))).toEqual(['first']);
});

test('neighboring user messages are merged', () => {
  expect(pairHistory([user, user])).toEqual([{ role: 'user', parts: [{ text: 'hi' }, { text: 'hi' }] }]);
});

test('whatever the history, every call has one result and a unique id in its turn', () => {
  const id = fc.constantFrom('a', 'b', 'c', '');
  const part = fc.oneof(
    id.map((each) => ({ functionCall: { id: each, name: 'ls' } })),
    id.map((each) => ({ functionResponse: { id: each, response: {} } })),
    fc.constant({ text: 'x' }),
    fc.constant({}),
  );
  const message = fc.record({
    role: fc.constantFrom('user', 'model', 'tool'),
    parts: fc.array(part, { maxLength: 4 }),
  });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), (history) => {
      for (const turn of pairHistory(history)) {
        const calls = callsOf(turn);
        expect(new Set(calls.map((each) => each.id)).size).toBe(calls.length);
        expect(calls.every(({ response, id: each }) => response.response !== undefined && each !== '')).toBe(true);
      }
    }),
  );
});
