import { expect, test } from 'vitest';
import type { Message, ModelRequest } from '../model.js';
import { openai } from '../wire/openai/openai.js';
import { bodyText } from './remote-model.js';

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

test('a call that had no result yet is sent with its result once that is there', () => {
  const history = [user('go'), call('a')];
  expect(bodyText(openai.body(requestOf(history), endpoint))).toContain('interrupted');
  history.push(result('a', 'the result'));
  const text = bodyText(openai.body(requestOf(history), endpoint));
  expect(text).toContain('the result');
  expect(text).not.toContain('interrupted');
});

test('another endpoint gets the same history in its own form', () => {
  const picture: Message = { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] };
  const blind = { ...endpoint, supports: { ...endpoint.supports, images: false } };
  expect(bodyText(openai.body(requestOf([picture]), endpoint))).toContain('AAAA');
  expect(bodyText(openai.body(requestOf([picture]), blind))).not.toContain('AAAA');
  expect(bodyText(openai.body(requestOf([picture]), endpoint))).toContain('AAAA');
});

test('half a surrogate pair is replaced', () => {
  expect(bodyText(openai.body(requestOf([user('a \ud800 b')]), endpoint))).toContain('a \ufffd b');
});
