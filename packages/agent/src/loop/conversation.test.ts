import type { Part } from '@lathe/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { faults } from '../../../../testing/agent-kit.js';
import type { Message } from '../models/model.js';
import { repairHistory } from '../models/repair-history.js';
import { Conversation } from './conversation.js';

const runs = process.env['LATHE_LONG'] ? 20_000 : 1_000;

const id = fc.constantFrom('a', 'b', 'c', '', undefined);
const name = fc.constantFrom('look', 'note');
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.string({ maxLength: 5 }).map((text) => ({ text })),
  fc.record({ id, name }).map(({ id: callId, name: tool }) => ({
    functionCall: { ...(callId !== undefined && { id: callId }), name: tool, args: {} },
  })),
  fc.record({ id, name, output: fc.string({ maxLength: 5 }) }).map(({ id: callId, name: tool, output }) => ({
    functionResponse: { ...(callId !== undefined && { id: callId }), name: tool, response: { output } },
  })),
);
const message: fc.Arbitrary<Message> = fc.record({
  role: fc.constantFrom('user' as const, 'model' as const, 'tool' as const),
  parts: fc.array(part, { maxLength: 4 }),
});

// RX15, RX16
test('any history becomes one that every provider accepts, and repairing it again changes nothing', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), (history) => {
      const repaired = repairHistory(history);
      expect(faults(repaired)).toEqual([]);
      const again = repairHistory(repaired);
      expect(again).toEqual(repaired);
      for (const [index, kept] of again.entries()) expect(kept).toBe(repaired[index]);
    }),
    { numRuns: runs },
  );
});

// SK16
test('repair invents no text and moves none into another role', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), (history) => {
      const texts = (messages: readonly Message[], role: string) =>
        messages.filter((each) => each.role === role).flatMap(({ parts }) => parts.flatMap(({ text }) => text ?? []));
      const repaired = repairHistory(history);
      for (const role of ['user', 'model']) {
        const before = texts(history, role);
        expect(texts(repaired, role).every((text) => before.includes(text))).toBe(true);
      }
    }),
    { numRuns: runs },
  );
});

test('a call without a result is marked as interrupted, and a result without a call is dropped', () => {
  const history: Message[] = [
    { role: 'user', parts: [{ text: 'go' }] },
    {
      role: 'model',
      parts: [{ functionCall: { id: '1', name: 'look' } }, { functionCall: { id: '2', name: 'note' } }],
    },
    {
      role: 'tool',
      parts: [
        { functionResponse: { id: '2', name: 'note', response: { output: 'noted' } } },
        { functionResponse: { id: '9', name: 'note', response: { output: 'whose?' } } },
      ],
    },
  ];
  expect(repairHistory(history)[2]).toEqual({
    role: 'tool',
    parts: [
      { functionResponse: { id: '1', name: 'look', response: { error: expect.stringContaining('interrupted') } } },
      { functionResponse: { id: '2', name: 'note', response: { output: 'noted' } } },
    ],
  });
});

// RX05
test('a reused or missing id becomes unique in the whole conversation', () => {
  const answer = (callId: string): Message => ({
    role: 'model',
    parts: [{ functionCall: { id: callId, name: 'look' } }],
  });
  const conversation = new Conversation([answer('old')]);
  const added = ['new', 'old', '', ''].map((each) => conversation.addAnswer(answer(each)).parts[0]?.functionCall?.id);
  expect(added[0]).toBe('new');
  expect(new Set([...added, 'old']).size).toBe(5);
});

// RX16
test('whatever is added, in any order, the conversation stays valid once it is settled', () => {
  const step = fc.oneof(
    fc.constant('user' as const),
    fc.array(fc.record({ id, name }), { minLength: 1, maxLength: 3 }),
    fc.constant('results' as const),
    fc.constant('text' as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const conversation = new Conversation();
      for (const what of steps) {
        const open = conversation.messages.at(-1);
        const calls = open?.role === 'model' ? open.parts.flatMap(({ functionCall }) => functionCall ?? []) : [];
        if (what === 'user') {
          conversation.settle();
          conversation.addUser([{ text: 'x' }]);
        } else if (what === 'text') {
          conversation.settle();
          conversation.addAnswer({ role: 'model', parts: [{ text: 'x' }] });
        } else if (what === 'results') {
          if (calls.length > 0)
            conversation.addResults(calls.map((call) => ({ ...pick(call), response: { output: 'ok' } })));
        } else {
          conversation.settle();
          const parts = what.map(({ id: callId, name: tool }) => ({
            functionCall: { ...(callId !== undefined && { id: callId }), name: tool },
          }));
          conversation.addAnswer({ role: 'model', parts });
        }
      }
      conversation.settle();
      expect(faults(conversation.messages)).toEqual([]);
    }),
    { numRuns: runs },
  );
});

function pick({ id: callId, name: tool }: { id?: string; name?: string }) {
  return { ...(callId !== undefined && { id: callId }), ...(tool !== undefined && { name: tool }) };
}
