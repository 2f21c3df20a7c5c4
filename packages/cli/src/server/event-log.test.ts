import type { AgentEvent } from '@lathe/agent';
import { expect, test } from 'vitest';
import { eventJson } from './event-json.js';
import { EventLog } from './event-log.js';

function all(log: EventLog, after = 0): { id: number; type: string; hasGap: boolean }[] {
  const found = [];
  for (let event = log.next(after); event; event = log.next(event.id)) {
    const { id, hasGap, json } = event;
    found.push({ id, type: JSON.parse(json).type as string, hasGap });
  }
  return found;
}

const types = (log: EventLog) => all(log).map(({ type }) => type);
const delta = { type: 'text-delta', text: 'x' } as const;
const answer: AgentEvent = { type: 'message-add', message: { role: 'model', parts: [] } };
const output = (callId: string, text: string) =>
  ({ type: 'call-output', callId, display: { type: 'terminal_output', text, totalBytes: text.length } }) as const;

test('pieces of an answer are kept until it is complete, and ids keep growing', () => {
  const log = new EventLog();
  log.add({ type: 'turn-start', turn: 1 });
  for (let count = 0; count < 3; count++) log.add(delta);
  expect(types(log)).toEqual(['turn-start', 'text-delta', 'text-delta', 'text-delta']);
  log.add(answer);
  expect(all(log)).toEqual([
    { id: 1, type: 'turn-start', hasGap: false },
    { id: 5, type: 'message-add', hasGap: false },
  ]);
});

test('an answer of a subagent replaces only its own pieces', () => {
  const log = new EventLog();
  const of = (callId: string, event: AgentEvent) => log.add({ type: 'subagent-event', callId, event });
  log.add({ type: 'turn-start', turn: 1 });
  log.add(delta);
  of('a', { type: 'turn-start', turn: 1 });
  of('a', delta);
  of('b', { type: 'turn-start', turn: 1 });
  of('b', delta);
  of('a', answer);
  expect(all(log).map(({ id }) => id)).toEqual([1, 2, 3, 5, 6, 7]);
});

test('only the last output of each call is kept, and none once the call has ended', () => {
  const log = new EventLog();
  for (const text of ['1', '2', '3']) for (const call of ['a', 'b']) log.add(output(call, text));
  expect(all(log).map(({ id }) => id)).toEqual([5, 6]);
  const outcome = {
    callId: 'a',
    name: 'x',
    status: 'success',
    llmContent: 'for the model',
    returnDisplay: 'ok',
  } as const;
  const rest = { response: {}, description: '', startedAt: 0, durationMs: 0 };
  log.add({ type: 'call-end', outcome: { ...outcome, ...rest } });
  expect(types(log)).toEqual(['call-output', 'call-end']);
  expect(log.next(6)?.json).not.toContain('for the model');
});

test('the log is bounded by count and size, and says so to those who missed something', () => {
  const log = new EventLog({ maxEvents: 10, maxChars: 1_000 });
  for (let turn = 1; turn <= 25; turn++) log.add({ type: 'turn-start', turn });
  expect(all(log).map(({ id, hasGap }) => [id, hasGap])[0]).toEqual([16, true]);
  expect(all(log, 15)[0]).toMatchObject({ id: 16, hasGap: false });
  expect(all(log, 3)[0]).toMatchObject({ id: 16, hasGap: true });
  log.add({ type: 'notice', level: 'info', message: 'm'.repeat(900) });
  expect(all(log).length).toBeLessThan(4);
});

test('an id that the log never gave is from another log: the reader gets all there is, and learns that it missed something', () => {
  const log = new EventLog();
  expect(log.next(500)).toBeUndefined();
  for (const turn of [1, 2]) log.add({ type: 'turn-start', turn });
  expect(all(log, 500).map(({ id, hasGap }) => [id, hasGap])).toEqual([
    [1, true],
    [2, false],
  ]);
});

test('ids of a log that begins later are greater, and an id from before it is not taken for one of its own', () => {
  const log = new EventLog({ begin: 1000 });
  expect([log.lastId, log.next(0), log.next(3)]).toEqual([0, undefined, undefined]);
  for (const turn of [1, 2, 3, 4]) log.add({ type: 'turn-start', turn });
  expect(all(log).map(({ id, hasGap }) => [id, hasGap])).toEqual([1001, 1002, 1003, 1004].map((id) => [id, false]));
  expect(all(log, 3)[0]).toMatchObject({ id: 1001, hasGap: true });
  expect(all(log, 1002)[0]).toMatchObject({ id: 1003, hasGap: false });
});

test('a text is not cut within a character', () => {
  const json = eventJson({ type: 'text-delta', text: `${'x'.repeat(65_535)}😀` });
  expect(JSON.parse(json).text).toBe(`${'x'.repeat(65_535)}…`);
});

test('long texts are cut, media and whole files are left out, and an event that is still too large is named only', () => {
  const log = new EventLog();
  const long = 'y'.repeat(100_000);
  log.add({ type: 'notice', level: 'info', message: long });
  const inlineData = { mimeType: 'image/png', data: long };
  log.add({ type: 'message-add', message: { role: 'user', parts: [{ inlineData }] } });
  log.add({
    type: 'call-update',
    callId: 'a',
    name: 'x',
    status: 'executing',
    description: '',
    args: { history: 'h' },
  });
  log.add({ type: 'prompt-start', parts: Array.from({ length: 30 }, () => ({ text: long })) });
  const sizes = [0, 1, 2, 3].map((after) => log.next(after)?.json ?? '');
  expect(sizes[0]?.length).toBeLessThan(66_000);
  expect(sizes[1]).toContain('"data":""');
  expect(sizes[2]).toContain('"history":"h"');
  expect(sizes[3]).toMatch(/^\{"time":\d+,"type":"prompt-start","isTooLarge":true\}$/);
});
