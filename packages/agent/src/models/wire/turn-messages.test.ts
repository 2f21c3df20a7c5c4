import { expect, test } from 'vitest';
import type { Message, ModelRequest } from '../model.js';
import { anthropic } from './anthropic/anthropic.js';
import { gemini } from './gemini/gemini.js';
import { openai } from './openai/openai.js';
import { bodyText } from './turn-messages.js';

const endpoint = {
  provider: 'openai',
  baseUrl: 'http://127.0.0.1/v1',
  model: 'm',
  supports: { images: true, tools: true, pdf: false },
};

const call = (id: string): Message => ({
  role: 'model',
  provider: 'openai',
  parts: [{ functionCall: { id, name: 'read_file', args: { absolute_path: `/${id}` } } }],
});
const result = (id: string, output: string): Message => ({
  role: 'tool',
  parts: [{ functionResponse: { id, name: 'read_file', response: { output } } }],
});
const user = (text: string): Message => ({ role: 'user', parts: [{ text }] });
const requestOf = (history: Message[]): ModelRequest => ({ system: 'Be brief.', history, tools: [] });

test.each([
  ['openai', openai],
  ['gemini', gemini],
  ['anthropic', anthropic],
])('%s: a history that grows is written as if each request were the first', (_name, wire) => {
  const history: Message[] = [];
  for (const message of [user('go'), call('a'), result('a', 'one'), user('more'), user('and more'), call('b')]) {
    history.push(message);
    const fresh = structuredClone(history);
    expect(bodyText(wire.body(requestOf(history), endpoint))).toBe(
      JSON.stringify(wire.body(requestOf(fresh), endpoint)),
    );
  }
});

test('a call that had no result yet is written again when the result is there', () => {
  const history = [user('go'), call('a')];
  expect(bodyText(openai.body(requestOf(history), endpoint))).toContain('interrupted');
  history.push(result('a', 'the result'));
  const text = bodyText(openai.body(requestOf(history), endpoint));
  expect(text).toContain('the result');
  expect(text).not.toContain('interrupted');
});

test('another endpoint gets the same history in its own way', () => {
  const picture: Message = { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] };
  const blind = { ...endpoint, supports: { ...endpoint.supports, images: false } };
  expect(bodyText(openai.body(requestOf([picture]), endpoint))).toContain('AAAA');
  expect(bodyText(openai.body(requestOf([picture]), blind))).not.toContain('AAAA');
  expect(bodyText(openai.body(requestOf([picture]), endpoint))).toContain('AAAA');
});

test.each([
  ['openai', openai, 'messages'],
  ['gemini', gemini, 'contents'],
  ['anthropic', anthropic, 'messages'],
])('%s: messages of earlier turns are the same objects in the next request', (_name, wire, key) => {
  const history = [user('go')];
  const messagesNow = () => (wire.body(requestOf(history), endpoint) as Record<string, object[]>)[key] ?? [];
  // The newest two messages may carry marks of their own.
  for (const id of ['a', 'b', 'c']) history.push(call(id), result(id, 'output'));
  const before = messagesNow();
  for (const id of ['d', 'e', 'f']) history.push(call(id), result(id, 'output'));
  const after = messagesNow();
  for (const index of [1, 2, 3]) expect(after[index]).toBe(before[index]);
});

test('half characters are replaced, in old turns too', () => {
  const history = [user('a \ud800 b')];
  for (const _ of [1, 2]) expect(bodyText(openai.body(requestOf(history), endpoint))).toContain('a \ufffd b');
});
