import { expect, test } from 'vitest';
import { parseJsonc, valueOf } from './parse-jsonc.js';

// SE11
test('comments, trailing commas and a byte order mark are accepted', async () => {
  const text =
    '\uFEFF// head\n{ /* a */ "a": [1, -2.5e3, true, null, ], // end\n "b": { "c": "d\\n\\u00e9" }, }\n// tail';
  expect(valueOf(await parseJsonc(text))).toEqual({ a: [1, -2500, true, null], b: { c: 'd\né' } });
});

test('a comment inside a string is text', async () => {
  expect(valueOf(await parseJsonc('{"url": "http://x/*y*/", "e": "\\"//"}'))).toEqual({
    url: 'http://x/*y*/',
    e: '"//',
  });
});

// SE11
test('a key __proto__ is only a key', async () => {
  const value = valueOf(await parseJsonc('{"__proto__": {"polluted": true}}'));
  expect(Object.getPrototypeOf(value)).toBeNull();
  expect(Object.keys(value as object)).toEqual(['__proto__']);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test.each([
  ['', 'Expected a value, but the file ends', 1],
  ['{', 'Expected "}", but the file ends', 1],
  ['{\n"a" 1}', 'Expected ":" after the key "a", but found "1"', 2],
  ['{\n\n"a": 1 "b": 2}', 'Expected a comma, but found "\\""', 3],
  ["{'a': 1}", 'Expected a value, or a key in double quotes, but found "\'"', 1],
  ['{a: 1}', 'Expected a value, or a key in double quotes, but found "a"', 1],
  ['[1,,2]', 'Expected a value, but found ","', 1],
  ['{"a": tru}', 'Expected a value, or a key in double quotes, but found "t"', 1],
  ['{"a": "x\n"}', 'A string is not closed on its line', 1],
  ['{"a": "\\x"}', 'A string has a character or escape that JSON does not allow', 1],
  ['{"a": "x', 'A string is not closed on its line', 1],
  ['{} {}', 'Expected the end of the file, but found "{"', 1],
  ['{ /* open', 'A comment is not closed', 1],
  ['{"a": 1e999}', 'The number is too large', 1],
  ['{"a": 01}', 'Expected a comma, but found "1"', 1],
  ['[[', 'Expected "]", but the file ends', 1],
  ['😀', 'Expected a value, or a key in double quotes, but found "😀"', 1],
])('%j is rejected with the reason and the line', async (text, message, line) => {
  await expect(parseJsonc(text)).rejects.toThrow(expect.objectContaining({ message, line }));
});

test('deep nesting and long strings, comments and lists do not exhaust the stack', async () => {
  await expect(parseJsonc('['.repeat(100_000))).rejects.toThrow('nested deeper than 64');
  await expect(parseJsonc('{"a":'.repeat(100_000))).rejects.toThrow('nested deeper than 64');
  const long = 'x'.repeat(1_000_000);
  expect(valueOf(await parseJsonc(`/*${'*'.repeat(500_000)}*/"${long}"//${long}`))).toBe(long);
  expect(valueOf(await parseJsonc(`["${'\\n'.repeat(300_000)}"${',1'.repeat(300_000)}]`))).toHaveLength(300_001);
});

test('every node and key has the line it is on, counted from one', async () => {
  const root = await parseJsonc('\uFEFF{ // head\r\n"a": [ /* two\n*/ 1 ],\n\n"b": {}}');
  expect(root).toMatchObject({ line: 1, entries: [{ line: 2 }, { line: 5, value: { line: 5 } }] });
  expect(root).toMatchObject({ entries: [{ value: { line: 2, items: [{ line: 3 }] } }, {}] });
});
