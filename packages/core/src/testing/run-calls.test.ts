import { expect, onTestFinished, test } from 'vitest';
import { defineTool } from '../tools/tools.js';
import { runCalls } from './run-calls.js';
import { tempWorkspace } from './temp-workspace.js';

const shout = defineTool({
  name: 'shout',
  displayName: 'Shout',
  description: 'Says it loudly.',
  kind: 'execute',
  parameterSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  execute: async ({ text }) => ({ llmContent: text.toUpperCase(), returnDisplay: '' }),
});

const call = { name: 'shout', args: { text: 'hi' } };

test('a scripted person answers in order, and says no to what nobody answered', async () => {
  const { outcomes, questions, events } = await runCalls({
    tools: [shout],
    calls: [call, call],
    answers: [{ outcome: 'once' }],
  });
  expect(outcomes.map(({ status, llmContent }) => [status, llmContent])).toEqual([
    ['success', 'HI'],
    ['cancelled', expect.stringContaining('did not allow')],
  ]);
  expect(questions.map(({ tool }) => tool)).toEqual(['shout', 'shout']);
  expect(events.filter(({ type }) => type === 'call-end')).toHaveLength(2);
});

test('rules and modes hold as elsewhere', async () => {
  const denied = await runCalls({ tools: [shout], calls: [call], rules: { deny: ['shout'] } });
  expect(denied.outcomes[0]?.error?.type).toBe('execution_denied');
  const allowed = await runCalls({ tools: [shout], calls: [call], mode: 'yolo' });
  expect([allowed.outcomes[0]?.status, allowed.questions]).toEqual(['success', []]);
});

test('a scratch directory has its files and can be removed', () => {
  const workspace = tempWorkspace({ 'a/b.txt': 'text' });
  onTestFinished(() => workspace.remove());
  expect(workspace.read('a/b.txt')).toBe('text');
  workspace.remove();
  expect(() => workspace.read('a/b.txt')).toThrow('ENOENT');
});
