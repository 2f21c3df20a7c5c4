import { expect, test } from 'vitest';
import { closestNames } from '../closest-names.js';
import { describeMismatch, type JsonSchema } from './json-schema.js';

const schema: JsonSchema = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1 },
    mode: { enum: ['fast', 'slow'] },
    name: { type: 'string', minLength: 1, maxLength: 3, pattern: '^[a-z]+$' },
    todos: { type: 'array', items: { $ref: '#/$defs/todo' }, maxItems: 3 },
    either: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  },
  additionalProperties: false,
  $defs: { todo: { type: 'object', properties: { status: { type: 'string' } }, required: ['status'] } },
};

test.each<[unknown, string | null]>([
  [{}, null],
  [{ limit: 1, name: 'abc', todos: [{ status: 'x' }], either: ['a'] }, null],
  [{ limit: 'x' }, 'limit must be an integer of at least 1, got "x"'],
  [{ limit: 0 }, 'limit must be an integer of at least 1, got 0'],
  [{ limit: 1.5 }, 'limit must be an integer of at least 1, got 1.5'],
  [{ limit: null }, 'limit must be an integer of at least 1, got null'],
  [{ mode: 'medium' }, 'mode must be one of "fast", "slow", got "medium"'],
  [{ name: 'ABC' }, 'name must be a string of at least 1 and at most 3 characters matching "^[a-z]+$", got "ABC"'],
  [{ todos: [{ status: 'a' }, {}] }, 'todos[1].status is missing: it must be a string'],
  [{ todos: [{ statu: 'a' }] }, 'todos[0].status is missing: it must be a string (given: statu)'],
  [{ todos: [{ status: 4 }] }, 'todos[0].status must be a string, got 4'],
  [{ either: 5 }, 'either must be a string or a list, each item a string, got 5'],
  [{ either: ['a', 5] }, 'either[1] must be a string, got 5'],
  [{ limt: 1 }, 'limt is not a known parameter; did you mean limit?'],
  [{ zebra: 1 }, 'zebra is not a known parameter; known: limit, mode, name, todos, either'],
  [[], 'the parameters must be an object with limit, mode, name, todos, either, got an empty list'],
  ['text', 'the parameters must be an object with limit, mode, name, todos, either, got "text"'],
  [null, 'the parameters must be an object with limit, mode, name, todos, either, got null'],
  [JSON.parse('{"__proto__":1}'), '__proto__ is not a known parameter; known: limit, mode, name, todos, either'],
  [{ mode: '\uD800' }, 'mode must be one of "fast", "slow", got "\\ud800"'],
])('%j: %s', (value, message) => {
  expect(describeMismatch(schema, value)).toBe(message);
});

test('only the first five problems are shown', () => {
  const value = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`zebra${index}`, 1]));
  expect(describeMismatch(schema, value)).toMatch(/; and 3 more$/);
});

test('values too deep or too large are rejected', () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key${index}`, 1]));
  expect(describeMismatch(schema, { todos: deep })).toContain('nested more than 100 levels');
  expect(describeMismatch(schema, wide)).toContain('more than 100000 values');
});

test('a recursive schema that causes too much work is stopped', () => {
  const branch = { properties: { a: { $ref: '#/$defs/x' } } };
  const hostile: JsonSchema = { $defs: { x: { type: 'object', anyOf: [branch, branch] } }, $ref: '#/$defs/x' };
  let value: unknown = 5;
  for (let depth = 0; depth < 60; depth++) value = { a: value };
  expect(describeMismatch(hostile, value)).toContain('too much work');
});

// SJ02
test('a catastrophic pattern is checked in linear time', () => {
  const hostile: JsonSchema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
  expect(describeMismatch(hostile, { a: 'a'.repeat(40) })).toBeNull();
  expect(describeMismatch(hostile, { a: `${'a'.repeat(40)}!` })).toContain('a must be a string matching');
});

// SJ02
test('a catastrophic pattern of property names is not checked', () => {
  const hostile: JsonSchema = {
    type: 'object',
    properties: { n: { type: 'integer' } },
    patternProperties: { '^(a+)+$': { type: 'integer' } },
    additionalProperties: false,
  };
  expect(describeMismatch(hostile, { [`${'a'.repeat(40)}!`]: 1 })).toBeNull();
  expect(describeMismatch(hostile, { n: 'x' })).toContain('n must be an integer');
});

test('the closest names come first', () => {
  expect(closestNames('read_fil', ['write_file', 'run_shell_command', 'read_file'], { count: 2 })).toEqual([
    'read_file',
    'write_file',
  ]);
  expect(closestNames('ReadFile', ['read_file'], { within: 0 })).toEqual(['read_file']);
  expect(closestNames('x'.repeat(1_000_000), ['read_file'], { within: 3 })).toEqual([]);
});
