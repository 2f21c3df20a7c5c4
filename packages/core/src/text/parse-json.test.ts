import { expect, test } from 'vitest';
import { parseBoundedJson } from './parse-json.js';

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const list = (values: number) => `[${'0,'.repeat(values - 1)}0]`;

test.each([
  ['brackets in a string', JSON.stringify('['.repeat(10_000))],
  ['commas in a key', `{${JSON.stringify(','.repeat(300_000))}:1}`],
  ['a quote after a backslash', JSON.stringify({ a: `"${'['.repeat(300)}`, b: `\\"${'{'.repeat(300)}\\` })],
  ['much text', JSON.stringify('x'.repeat(8_000_000))],
  ['many brackets side by side', `[${'[],'.repeat(50_000)}[]]`],
  ['as many levels as allowed', nested(200)],
  ['as many values as allowed', list(200_000)],
])('%s is parsed', (_what, text) => {
  expect(parseBoundedJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
});

test.each([
  ['one level too many', nested(201), 'nested'],
  ['sixteen megabytes of brackets', '['.repeat(16_000_000), 'nested'],
  ['objects within objects', '{"a":'.repeat(1_000_000), 'nested'],
  ['one value too many', list(200_001), 'values'],
  ['millions of lists', `[${'[],'.repeat(5_000_000)}[]]`, 'values'],
  ['a text that is cut off', '{"a":"', 'JSON'],
  ['brackets after a string that never ends', `"${'['.repeat(1_000)}`, 'JSON'],
  ['nothing', '', 'JSON'],
])('%s is rejected', (_what, text, problem) => {
  expect(parseBoundedJson(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
});
