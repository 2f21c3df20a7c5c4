import { expect, test } from 'vitest';
import { parseFrontMatter } from './front-matter.js';

const read = (text: string) => {
  const parsed = parseFrontMatter(text);
  return parsed && { ...Object.fromEntries(parsed.fields), body: parsed.body };
};

test('values, quotes, lists and blocks are read, and the body is left as it is', () => {
  const text = [
    '\ufeff---',
    'name: tester # short',
    'description: "Runs \\"all\\" tests: quickly"',
    "motto: 'it''s fine'",
    'tools: [read_file, "a, b"]',
    'more:',
    '  - one',
    '  - two',
    'flat:',
    '- three',
    'long: |',
    '  first',
    '  second',
    'folded: >-',
    '  third',
    '  fourth',
    'wrapped: goes on',
    '  below',
    '---',
    '',
    'You test.',
    '---',
  ].join('\r\n');
  expect(read(text)).toEqual({
    name: 'tester',
    description: 'Runs "all" tests: quickly',
    motto: "it's fine",
    tools: ['read_file', 'a, b'],
    more: ['one', 'two'],
    flat: ['three'],
    long: 'first\nsecond',
    folded: 'third fourth',
    wrapped: 'goes on below',
    body: '\nYou test.\n---',
  });
});

test.each(['no head', '--- x\nname: a\n---\n', '---\nname: a\n', ''])('%j has no front matter', (text) => {
  expect(parseFrontMatter(text)).toBeUndefined();
});

test.each([
  ['a value', `name: a${' '.repeat(200_000)}x`],
  ['a value with an odd end of line', `name:${' '.repeat(200_000)}x\u2028`],
  ['comments', `name: a${' #'.repeat(200_000)}\u2028`],
  ['an item', `name:\n- a${' '.repeat(200_000)}x`],
  ['an item with an odd end of line', `name:\n-${' '.repeat(200_000)}x\u2028`],
  ['keys', 'name:\n'.repeat(200_000)],
])('parsing %s takes linear time', (_, head) => {
  expect(parseFrontMatter(`---\n${head}\n---\n`)?.fields.has('name')).toBe(true);
});

test('empty front matter is front matter', () => {
  expect(read('---\n---\nbody')).toEqual({ body: 'body' });
});

test('unknown syntax is skipped, and no key reaches the prototype', () => {
  expect(read('---\n%odd\nname: a\n? b\n__proto__: c\n---\n')).toEqual({ name: 'a', body: '' });
});
