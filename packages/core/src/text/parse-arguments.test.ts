import { expect, test } from 'vitest';
import { parseArguments } from './parse-arguments.js';

test.each<[string, unknown]>([
  ['{"a":1}', { a: 1 }],
  ['{"a":1,}', { a: 1 }],
  ['{"a":[1,2 , ] , }', { a: [1, 2] }],
  ['```json\n{"a":1}\n```', { a: 1 }],
  ['```\n{"a":"```"}\n```\n', { a: '```' }],
  ['{"a":",}"}', { a: ',}' }],
  ['{"a":"\\\\",}', { a: '\\' }],
  ['{"a":1,"a":2}', { a: 2 }],
  ['"text"', 'text'],
  ['null', null],
  ['{"a":"\\ud800\\u0000"}', { a: '\uD800\0' }],
])('%s is read', (text, value) => {
  expect(parseArguments(text)).toEqual({ ok: true, value });
});

test.each([
  ['', 'not valid JSON'],
  ['{"a":"half', 'cut off in the middle of a string'],
  ['{"a":"half\\"', 'cut off in the middle of a string'],
  ['{"a":1', 'cut off before they are complete'],
  ['```json\n{"a":1', 'cut off before they are complete'],
  ["{'a':1}", 'not valid JSON'],
  ['{"a":1} {"b":2}', 'not valid JSON'],
  ['[1,,2]', 'not valid JSON'],
  ['[,]', 'not valid JSON'],
  ['{"a":1,,}', 'not valid JSON'],
  ['{a:1}', 'not valid JSON'],
  ['\uFEFF{"a":1}', 'not valid JSON'],
  [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'nested too deeply'],
  [`[${'0,'.repeat(200_000)}0]`, 'more than 100000 values'],
  [`"${'x'.repeat(9_000_000)}"`, 'larger than 8 MB'],
])('%.30s is rejected', (text, problem) => {
  const result = parseArguments(text);
  expect(result).toEqual({ ok: false, problem: expect.stringContaining(problem) });
});

test('names of the prototype are plain data', () => {
  const result = parseArguments('{"__proto__":{"polluted":true}}');
  expect(result.ok && Object.keys(result.value as object)).toEqual(['__proto__']);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});
