import { expect, test } from 'vitest';
import { fieldsOf } from './elicitation-form.js';

const read = (shape: Record<string, unknown>, typed: string) =>
  fieldsOf({ type: 'object', properties: { x: shape } })?.[0]?.read(typed);

test.each<[Record<string, unknown>, string, unknown]>([
  [{ type: 'string' }, 'a b', { value: 'a b' }],
  [{ type: 'number' }, '1.5', { value: 1.5 }],
  [{ type: 'number' }, '', { problem: 'Give a number.' }],
  [{ type: 'integer' }, '1.5', { problem: 'Give a whole number.' }],
  [{ type: 'boolean' }, 'Yes', { value: true }],
  [{ type: 'boolean' }, 'no', { value: false }],
  [{ type: 'boolean' }, 'perhaps', { problem: 'Say yes or no.' }],
  [{ type: 'string', enum: ['red', 'green'] }, '2', { value: 'green' }],
  [{ type: 'string', enum: ['red', 'green'] }, 'red', { value: 'red' }],
  [{ type: 'string', enum: ['red', 'green'] }, '3', { problem: 'Give one of the numbers.' }],
  [{ type: 'string', oneOf: [{ const: 'r', title: 'Red' }] }, '1', { value: 'r' }],
  [{ type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } }, '1, c', { value: ['a', 'c'] }],
])('%j reads %j as %j', (shape, typed, expected) => {
  expect(read(shape, typed)).toEqual(expected);
});

test.each([
  [{ type: 'object' }],
  [{ type: 'object', properties: { x: 7 } }],
  [{ type: 'object', properties: { x: { type: 'object' } } }],
  [{ type: 'object', properties: { x: { type: 'array', items: { type: 'string' } } } }],
])('%j is no form', (schema) => {
  expect(fieldsOf(schema)).toBeUndefined();
});

test('SG10: what a server writes into a form cannot move the cursor', () => {
  const schema = { type: 'object', properties: { x: { type: 'string', title: 'Name\u001b[2J', default: 'me' } } };
  expect(fieldsOf(schema)).toMatchObject([
    { name: 'x', label: 'Name\\x1b[2J · may be left empty', isRequired: false, fallback: 'me' },
  ]);
});
