import { expect, test } from 'vitest';
import type { FinishReason, ModelEvent } from '../model.js';
import { LocalAnswer } from './local-answer.js';

const tools = [{ name: 'read_file' }, { name: 'ls' }];

/** The events of an answer whose text arrives in pieces of `size`. */
function answer(text: string, size = 3, reason: FinishReason = 'stop'): ModelEvent[] {
  const local = new LocalAnswer({ system: '', history: [], tools }, 'ollama');
  const events: ModelEvent[] = [];
  for (let at = 0; at < text.length; at += size) {
    local.text(text.slice(at, at + size));
    events.push(...local.takeDeltas());
  }
  local.end(reason);
  return [...events, ...local.finish()];
}

const calls = (events: ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'call' ? [[event.call.name, event.call.args]] : []));
const shown = (events: ModelEvent[], type: 'text-delta' | 'reasoning-delta') =>
  events.flatMap((event) => (event.type === type ? [event.text] : [])).join('');

const readX = [['read_file', { path: 'x' }]];

test.each([
  ['Hermes', '<tool_call>\n{"name": "read_file", "arguments": {"path": "x"}}\n</tool_call>'],
  ['arguments as a string', '<tool_call>{"name":"read_file","arguments":"{\\"path\\":\\"x\\"}"}</tool_call>'],
  ['Qwen coder', '<tool_call>\n<function=read_file>\n<parameter=path>\nx\n</parameter>\n</function>\n</tool_call>'],
  ['a bare function', '<function=read_file>{"path": "x"}</function>'],
  ['a fence', '```json\n{"name": "read_file", "arguments": {"path": "x"}}\n```'],
  ['bare JSON', '{"name": "read_file", "parameters": {"path": "x"}}'],
  ['a list', '[{"name": "read_file", "arguments": {"path": "x"}}]'],
  ['a declared function', '{"type": "function", "function": {"name": "read_file", "arguments": {"path": "x"}}}'],
  [
    'after thoughts',
    '<think>I should read</think>\n\n<tool_call>{"name":"read_file","arguments":{"path":"x"}}</tool_call>',
  ],
])('a call written as text runs: %s', (_, text) => {
  for (const size of [1, 3, 1000]) {
    const events = answer(text, size);
    expect(calls(events)).toEqual(readX);
    expect(shown(events, 'text-delta')).toBe('');
    expect(events.at(-1)).toMatchObject({ reason: 'calls' });
  }
});

test('several blocks are several calls', () => {
  const block = '<tool_call>{"name":"ls","arguments":{}}</tool_call>';
  expect(calls(answer(`${block}\n${block}`))).toHaveLength(2);
});

test.each([
  ['prose before it', 'The file says: <tool_call>{"name":"ls","arguments":{}}</tool_call>'],
  ['prose after it', '<tool_call>{"name":"ls","arguments":{}}</tool_call> is how you call it.'],
  ['an unknown tool', '<tool_call>{"name":"rm","arguments":{}}</tool_call>'],
  [
    'one known and one unknown tool',
    '<tool_call>{"name":"ls","arguments":{}}</tool_call><tool_call>{"name":"rm","arguments":{}}</tool_call>',
  ],
  ['more keys than a call has', '{"name": "ls", "arguments": {}, "version": "1.0.0"}'],
  ['a package file', '{"name": "read_file", "version": "1.0.0"}'],
  ['no closing tag', '<tool_call>{"name":"ls","arguments":{}}'],
  ['cut JSON', '<tool_call>{"name":"ls","arguments":{"pa</tool_call>'],
  ['tags inside tags', '<tool_call><tool_call>{"name":"ls","arguments":{}}</tool_call></tool_call>'],
  ['a parameter twice', '<function=ls><parameter=a>1</parameter><parameter=a>2</parameter></function>'],
  ['a fence with words', '```json\n{"name":"ls","arguments":{}}\n``` like this'],
])('%s is text and runs nothing', (_, text) => {
  const events = answer(text);
  expect(calls(events)).toEqual([]);
  expect(shown(events, 'text-delta')).toBe(text);
});

// RX10
test('a call in thoughts only is not run', () => {
  const events = answer('<think><tool_call>{"name":"ls","arguments":{}}</tool_call></think>done');
  expect(calls(events)).toEqual([]);
  expect(shown(events, 'text-delta')).toBe('done');
});

test('an answer cut by its limit is not searched for calls', () => {
  expect(calls(answer('<tool_call>{"name":"ls","arguments":{}}</tool_call>', 3, 'length'))).toEqual([]);
});

test('real calls leave text alone', () => {
  const local = new LocalAnswer({ system: '', history: [], tools }, 'ollama');
  local.text('<tool_call>{"name":"ls","arguments":{}}</tool_call>');
  local.call({ index: 0, id: 'a', name: 'read_file', args: '{"path":"x"}' });
  local.end('calls');
  expect(calls([...local.finish()])).toEqual(readX);
});

test('ordinary text streams at once, and thoughts are split from it', () => {
  expect(shown(answer('Hello <b>you</b> {"name": 1}', 1), 'text-delta')).toBe('Hello <b>you</b> {"name": 1}');
  const events = answer('<think>a < b </thin</think>Yes.', 1);
  expect(shown(events, 'reasoning-delta')).toBe('a < b </thin');
  expect(shown(events, 'text-delta')).toBe('Yes.');
});
