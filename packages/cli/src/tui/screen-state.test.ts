import type { AgentEvent } from '@lathe/agent';
import { expect, test } from 'vitest';
import { emptyScreen, nextScreen, type ScreenEvent, type ScreenState } from './screen-state.js';

const play = (...events: ScreenEvent[]): ScreenState => events.reduce(nextScreen, emptyScreen);
const agent = (event: AgentEvent): ScreenEvent => ({ type: 'agent', event, now: 5 });
const update = (status: 'validating' | 'executing') =>
  agent({ type: 'call-update', callId: '1', name: 'read_file', status, description: 'a\u001b[2J.txt', args: {} });

test('deltas preview the final answer', () => {
  const writing = play(agent({ type: 'text-delta', text: 'Hel' }), agent({ type: 'text-delta', text: 'lo' }));
  expect([writing.liveText, writing.items]).toEqual(['Hello', []]);
  const done = nextScreen(
    writing,
    agent({
      type: 'message-add',
      message: { role: 'model', parts: [{ text: 'hm', thought: true }, { text: 'Hello' }] },
    }),
  );
  expect([done.liveText, done.items]).toEqual(['', [{ type: 'answer', text: 'Hello' }]]);
});

test('a retry discards the partial text and gives the reason', () => {
  const screen = play(
    agent({ type: 'text-delta', text: 'Hel' }),
    agent({ type: 'retry', attempt: 1, delayMs: 10, reason: 'The stream broke.' }),
  );
  expect([screen.liveText, screen.retry]).toEqual(['', 'The stream broke. Retry 1.']);
  expect(nextScreen(screen, agent({ type: 'text-delta', text: 'x' })).retry).toBeUndefined();
});

test.each([
  [300, 'Compacted the conversation from 1,000 to 300 tokens.'],
  [1000, 'Could not compact further: 1,000 tokens remain.'],
])('a compaction from 1000 to %d tokens is reported correctly', (tokensAfter, text) => {
  const compaction = { method: 'outputs' as const, tokensBefore: 1000, tokensAfter, history: [] };
  const { items } = play(agent({ type: 'compaction-end', compaction }));
  expect(items).toEqual([{ type: 'notice', level: 'info', text }]);
});

test('a call moves to the scrollback when it ends, and its text is sanitized', () => {
  const running = play(
    update('validating'),
    update('executing'),
    agent({ type: 'call-output', callId: '1', display: 'half' }),
  );
  expect(running.calls).toEqual([
    {
      callId: '1',
      name: 'read_file',
      description: 'a\\x1b[2J.txt',
      status: 'executing',
      startedAt: 5,
      display: 'half',
    },
  ]);
  const outcome = {
    callId: '1',
    name: 'read_file',
    status: 'success',
    llmContent: 'x',
    returnDisplay: 'all',
    response: {},
    description: 'a\u001b[2J.txt',
    startedAt: 10,
    durationMs: 7,
  } as const;
  // Also if it was denied before it started.
  const [denied] = nextScreen(play(), { type: 'agent', event: { type: 'call-end', outcome }, now: 20 }).items;
  expect(denied).toMatchObject({ call: { description: 'a\\x1b[2J.txt' } });
  const done = nextScreen(running, { type: 'agent', event: { type: 'call-end', outcome }, now: 20 });
  expect(done.calls).toEqual([]);
  expect(done.items).toEqual([
    {
      type: 'call',
      call: {
        callId: '1',
        name: 'read_file',
        description: 'a\\x1b[2J.txt',
        status: 'success',
        startedAt: 5,
        durationMs: 7,
        display: 'all',
      },
    },
  ]);
});

test('the end of a prompt is reported once, then the screen is idle', () => {
  const usage = { inputTokens: 1, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 };
  const screen = play(
    { type: 'begin', prompt: 'go', now: 1 },
    agent({
      type: 'prompt-end',
      end: { reason: 'error', text: '', message: 'No key.', turns: 1, usage, durationMs: 1, modelMs: 1 },
    }),
    { type: 'end' },
  );
  expect([screen.items, screen.isBusy]).toEqual([
    [
      { type: 'prompt', text: 'go' },
      { type: 'notice', level: 'warning', text: 'No key.' },
    ],
    false,
  ]);
});

test('the partial text of an interrupted answer appears above the reason', () => {
  const usage = { inputTokens: 1, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 };
  const screen = play(
    agent({ type: 'text-delta', text: 'Half an ans' }),
    agent({
      type: 'prompt-end',
      end: { reason: 'aborted', text: '', message: 'Interrupted.', turns: 1, usage, durationMs: 1, modelMs: 1 },
    }),
    { type: 'end' },
  );
  expect(screen.items.map((item) => ('text' in item ? item.text.trim() : item.type))).toEqual([
    'Half an ans',
    'Interrupted.',
  ]);
});

test('the time of a call does not include the wait for approval', () => {
  const at = (now: number, event: AgentEvent): ScreenEvent => ({ type: 'agent', event, now });
  const call = { type: 'call-update', callId: '1', name: 'edit', description: 'a.txt', args: {} } as const;
  const texts = { name: 'edit', description: 'a.txt', llmContent: '', returnDisplay: '' };
  const outcome = { callId: '1', ...texts, response: {}, startedAt: 0, durationMs: 9100 };
  const asked = [at(0, { ...call, status: 'validating' }), at(10, { ...call, status: 'awaiting_approval' })];
  const ran = play(
    ...asked,
    at(9000, { ...call, status: 'executing' }),
    at(9100, { type: 'call-end', outcome: { ...outcome, status: 'success' } }),
  );
  expect(ran.items).toMatchObject([{ call: { durationMs: 100 } }]);
  const error = { type: 'execution_denied', message: 'no' } as const;
  const denied = play(...asked, at(9100, { type: 'call-end', outcome: { ...outcome, status: 'cancelled', error } }));
  expect(denied.items).toMatchObject([{ call: { durationMs: 0 } }]);
});

test('a todo no longer labels the spinner when its prompt has ended', () => {
  const todos = [{ id: '1', content: 'Look', status: 'in_progress' as const }];
  const texts = {
    name: 'todo_write',
    description: '',
    llmContent: '',
    returnDisplay: { type: 'todo_list' as const, todos },
  };
  const outcome = { callId: '1', ...texts, response: {}, startedAt: 0, durationMs: 1, status: 'success' as const };
  const working = play({ type: 'begin', prompt: 'go', now: 0 }, agent({ type: 'call-end', outcome }));
  expect([working.todo, nextScreen(working, { type: 'end' }).todo]).toEqual(['Look', undefined]);
});

test('what waits is shown until the model has received it', () => {
  const waiting = play(
    { type: 'wait', prompt: 'one' },
    { type: 'wait', prompt: 'two' },
    { type: 'deliver', prompt: 'one' },
  );
  expect([waiting.waiting, waiting.items]).toEqual([['two'], [{ type: 'prompt', text: 'one' }]]);
  expect(nextScreen(waiting, { type: 'drop' }).waiting).toEqual([]);
});
