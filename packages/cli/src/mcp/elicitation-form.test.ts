import { expect, test } from 'vitest';
import { fieldsOf } from './elicitation-form.js';

const parse = (shape: Record<string, unknown>, typed: string) =>
  fieldsOf({ type: 'object', properties: { x: shape } })?.[0]?.parse(typed);

test.each<[Record<string, unknown>, string, unknown]>([
  [{ type: 'string' }, 'a b', { value: 'a b' }],
  [{ type: 'number' }, '1.5', { value: 1.5 }],
  [{ type: 'number' }, '', { problem: 'Enter a number.' }],
  [{ type: 'integer' }, '1.5', { problem: 'Enter a whole number.' }],
  [{ type: 'boolean' }, 'Yes', { value: true }],
  [{ type: 'boolean' }, 'no', { value: false }],
  [{ type: 'boolean' }, 'perhaps', { problem: 'Enter yes or no.' }],
  [{ type: 'string', enum: ['red', 'green'] }, '2', { value: 'green' }],
  [{ type: 'string', enum: ['red', 'green'] }, 'red', { value: 'red' }],
  [{ type: 'string', enum: ['red', 'green'] }, '3', { problem: 'Enter one of the numbers.' }],
  [{ type: 'string', oneOf: [{ const: 'r', title: 'Red' }] }, '1', { value: 'r' }],
  [{ type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } }, '1, c', { value: ['a', 'c'] }],
])('%j parses %j as %j', (shape, typed, expected) => {
  expect(parse(shape, typed)).toEqual(expected);
});

test.each([
  [{ type: 'object' }],
  [{ type: 'object', properties: { x: 7 } }],
  [{ type: 'object', properties: { x: { type: 'object' } } }],
  [{ type: 'object', properties: { x: { type: 'array', items: { type: 'string' } } } }],
])('%j is not a form', (schema) => {
  expect(fieldsOf(schema)).toBeUndefined();
});

test('SG10: form text from a server is sanitized', () => {
  const schema = { type: 'object', properties: { x: { type: 'string', title: 'Name\u001b[2J', default: 'me' } } };
  expect(fieldsOf(schema)).toMatchObject([
    { name: 'x', label: 'Name\\x1b[2J · optional', isRequired: false, defaultValue: 'me' },
  ]);
});
