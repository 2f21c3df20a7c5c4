import type { ApprovalRequest } from '@lathe/core';
import { expect, test } from 'vitest';
import { fieldsOf } from '../../mcp/elicitation-form.js';
import { styleFor } from '../../render/style.js';
import { optionsOf } from './confirmation-options.js';
import { confirmationText } from './confirmation-text.js';
import { QuestionQueue } from './question-queue.js';

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

function shown({ current }: QuestionQueue) {
  if (current?.type !== 'approval') throw new Error('no question to say yes to');
  return current;
}

test('questions appear in order, and each answer reaches its own question', async () => {
  const queue = new QuestionQueue();
  const last = request('b');
  const [a, b] = [queue.decide(request('a'), never), queue.decide(last, never)];
  const first = shown(queue);
  first.answer({ outcome: 'once' });
  // A late second answer to the same question must not reach the next one.
  first.answer({ outcome: 'always', scope: 'user' });
  expect(shown(queue).request).toBe(last);
  expect(queue.length).toBe(1);
  shown(queue).answer({ outcome: 'deny', message: 'no' });
  expect([await a, await b]).toEqual([{ outcome: 'once' }, { outcome: 'deny', message: 'no' }]);
});

test('an aborted question leaves the queue', async () => {
  const queue = new QuestionQueue();
  const controller = new AbortController();
  const answer = queue.decide(request('a'), controller.signal);
  controller.abort(new Error('stop'));
  await expect(answer).rejects.toThrow('stop');
  expect(queue.current).toBeUndefined();
  await expect(queue.decide(request('b'), controller.signal)).rejects.toThrow('stop');
});

test('a cancelled field rejects', async () => {
  const queue = new QuestionQueue();
  const [field] = fieldsOf({ properties: { x: { type: 'string' } } }) ?? [];
  if (!field) throw new Error('no form');
  const filling = queue.askField({ server: 's', message: '', field, step: '1 of 1' }, never);
  if (queue.current?.type !== 'field') throw new Error('no field is asked for');
  queue.current.cancel();
  await expect(filling).rejects.toThrow('cancelled');
  expect(queue.length).toBe(0);
});

const context = {
  style: styleFor({ NO_COLOR: '1' }),
  width: 80,
  markdown: (text: string) => text,
  isScreenReader: false,
  toolName: (name: string) => name,
};

test.each([
  ['plain', 'ls -la', true],
  ['an escape sequence', 'ls \u001b[2J', false],
  ['a bidi override', 'ls \u202efdp', false],
  ['padding that hides the end', `ls ${' '.repeat(500)}; rm -rf x`, false],
])('%s: whether "always" is offered', (_title, command, isPlain) => {
  const { isPlain: offersAlways, body: lines } = confirmationText(request('a', command), context);
  const body = lines.join('\n');
  expect(offersAlways).toBe(isPlain);
  for (const hidden of ['\u001b', '\u202e', ' '.repeat(40)]) expect(body).not.toContain(hidden);
  expect(body).toContain(command.slice(0, 3));
  expect(body).toContain(command.slice(-3));
});

test('"always" is offered for the session, the project and the person, and for exactly this command', () => {
  const keys = (rules: object) => {
    const asked = { ...request('a'), confirmation: { ...request('a').confirmation, ...rules } };
    const options = optionsOf({ request: asked, answer: () => undefined, offersAlways: true, explain: undefined });
    return options.map(({ key }) => key).join('');
  };
  const exact = ['run_shell_command(=a)'];
  expect(keys({ rules: ['run_shell_command(a *)'], exactRules: exact })).toBe('yspuxXn');
  expect(keys({ rules: exact })).toBe('yspn');
  expect(keys({ rules: ['edit(/**)'] })).toBe('yspun');
});

test('a yes that counts from now on does not say once, and nobody reads a reason for the no', () => {
  const input = { answer: () => undefined, offersAlways: true, explain: () => undefined };
  const labels = (asked: object) =>
    optionsOf({ ...input, request: { ...request('a'), ...asked } }).map(({ label }) => label);
  expect(labels({})).toEqual(['Yes, once', 'No, and say why', 'No']);
  expect(labels({ isRemembered: true })).toEqual(['Yes, until it changes', 'No']);
});

test('a reason that is also a warning is shown once', () => {
  const asked = { ...request('a'), reason: 'a rule asks' };
  const warned = { ...asked, confirmation: { ...asked.confirmation, warnings: [asked.reason] } };
  expect(confirmationText(asked, context).warnings).toEqual(['asked because a rule asks']);
  expect(confirmationText(warned, context).warnings).toEqual(['! a rule asks']);
  expect(confirmationText(request('a'), context).warnings).toEqual([]);
});

test("a tool's question offers its options and free text, but no yes", () => {
  const labels = (choices?: { id: string; label: string }[]) => {
    const confirmation = { type: 'info', title: 'Worker asks', prompt: 'Where?', isQuestion: true } as const;
    const asked = { confirmation: { ...confirmation, ...(choices && { choices }) }, reason: 'it needs an answer' };
    const input = { request: asked, answer: () => {}, offersAlways: true, explain: () => {} };
    return optionsOf(input).map(({ key, label }) => `${key} ${label}`);
  };
  expect(labels([{ id: '0', label: 'left' }])).toEqual([' left', 'm Write an answer', 'n No answer']);
  expect(labels()).toEqual(['m Write an answer', 'n No answer']);
});
