import type { ApprovalRequest } from '@lathe/core';
import { expect, test } from 'vitest';
import { styleFor } from '../render/style.js';
import { ApprovalQueue } from './approval-queue.js';
import { confirmationText } from './confirmation-text.js';

const never = new AbortController().signal;
const request = (callId: string, command = 'ls'): ApprovalRequest => ({
  callId,
  tool: 'run_shell_command',
  displayName: 'Shell',
  description: command,
  args: {},
  confirmation: { type: 'exec', title: 'Run?', command, rootCommand: 'ls', directory: '/' },
  reason: 'no rule allows it',
});

test('questions are shown in order and each answer goes to its own', async () => {
  const queue = new ApprovalQueue();
  const [a, b] = [queue.decide(request('a'), never), queue.decide(request('b'), never)];
  const first = queue.current;
  first?.answer({ outcome: 'once' });
  // A late second answer to the same question must not reach the next one.
  first?.answer({ outcome: 'always', scope: 'user' });
  expect([queue.current?.request.callId, queue.length]).toEqual(['b', 1]);
  queue.current?.answer({ outcome: 'deny', message: 'no' });
  expect([await a, await b]).toEqual([{ outcome: 'once' }, { outcome: 'deny', message: 'no' }]);
});

test('an aborted question leaves the queue', async () => {
  const queue = new ApprovalQueue();
  const controller = new AbortController();
  const answer = queue.decide(request('a'), controller.signal);
  controller.abort(new Error('stop'));
  await expect(answer).rejects.toThrow('stop');
  expect(queue.current).toBeUndefined();
  await expect(queue.decide(request('b'), controller.signal)).rejects.toThrow('stop');
});

const context = { style: styleFor({ NO_COLOR: '1' }), width: 80, markdown: (text: string) => text, isSpoken: false };

test.each([
  ['plain', 'ls -la', true],
  ['an escape sequence', 'ls \u001b[2J', false],
  ['a bidi override', 'ls \u202efdp', false],
  ['padding that hides the end', `ls ${' '.repeat(500)}; rm -rf x`, false],
])('%s: whether "always" may be offered', (_title, command, isPlain) => {
  const { isPlain: mayAlways, body: lines } = confirmationText(request('a', command), context);
  const body = lines.join('\n');
  expect(mayAlways).toBe(isPlain);
  for (const hidden of ['\u001b', '\u202e', ' '.repeat(40)]) expect(body).not.toContain(hidden);
  expect(body).toContain(command.slice(0, 3));
  expect(body).toContain(command.slice(-3));
});
