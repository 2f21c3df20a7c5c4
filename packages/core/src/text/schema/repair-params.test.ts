import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { report } from '../../../../../testing/long-run.js';
import { describeMismatch, type JsonSchema } from './json-schema.js';
import { repairParams } from './repair-params.js';

const object = (properties: Record<string, unknown>, rest: Record<string, unknown> = {}): JsonSchema => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...rest,
});
const one = (schema: unknown): JsonSchema => object({ x: schema });
const integer = { type: 'integer' };
const number = { type: 'number' };
const boolean = { type: 'boolean' };
const text = { type: 'string' };
const list = (items: unknown) => ({ type: 'array', items });

test.each<[string, unknown, unknown, unknown]>([
  ['a number in quotes', integer, '5', 5],
  ['a negative number', integer, '-3', -3],
  ['zero', integer, '0', 0],
  ['a fraction', number, '1.5', 1.5],
  ['a number through a type list', { type: ['integer', 'null'] }, '7', 7],
  ['a number that is listed', { enum: [1, 2] }, '2', 2],
  ['"true"', boolean, 'true', true],
  ['"True"', boolean, 'True', true],
  ['"TRUE"', boolean, 'TRUE', true],
  ['"false"', boolean, 'false', false],
  ['"False"', boolean, 'False', false],
  ['"FALSE"', boolean, 'FALSE', false],
  ['a list as JSON text', list(text), '["a","b"]', ['a', 'b']],
  ['an object as JSON text', { type: 'object' }, '{"a":1}', { a: 1 }],
  ['JSON text with numbers in quotes', list(integer), '["1","2"]', [1, 2]],
  ['one string for a list', list(text), 'a', ['a']],
  ['one number in quotes for a list of numbers', list(integer), '5', [5]],
  ['one object for a list', list({ type: 'object' }), { a: 1 }, [{ a: 1 }]],
  ['items of a list', list(integer), ['1', 2], [1, 2]],
  ['a tuple', { type: 'array', prefixItems: [integer, boolean] }, ['1', 'true'], [1, true]],
  ['a draft-07 tuple', { type: 'array', items: [integer, boolean] }, ['1', 'true'], [1, true]],
  ['a nested object', object({ y: integer }), { y: '1' }, { y: 1 }],
  ['other names', { type: 'object', additionalProperties: integer }, { a: '1' }, { a: 1 }],
  ['one branch of anyOf', { anyOf: [integer, boolean] }, '5', 5],
  ['one branch of oneOf', { oneOf: [boolean, { type: 'null' }] }, 'True', true],
  ['the nearer of two branches', { anyOf: [integer, list(integer)] }, '5', 5],
  ['every part of allOf', { allOf: [integer, { minimum: 1 }] }, '5', 5],
])('%s is repaired', (_, schema, given, expected) => {
  const result = repairParams(one(schema), { x: given });
  expect(result.value).toEqual({ x: expected });
  expect(result.repairs.length).toBeGreaterThan(0);
  expect(describeMismatch(one(schema), result.value)).toBeNull();
});

test.each<[string, unknown, unknown]>([
  ['a word for yes', boolean, 'yes'],
  ['a one for true', boolean, 1],
  ['"1" for true', boolean, '1'],
  ['mixed case of true', boolean, 'tRUE'],
  ['leading zeros', integer, '007'],
  ['an exponent', number, '1.0e5'],
  ['a trailing zero', integer, '5.0'],
  ['a fraction for an integer', integer, '1.5'],
  ['spaces around a number', integer, ' 5 '],
  ['a plus sign', integer, '+5'],
  ['hexadecimal', integer, '0x10'],
  ['minus zero', integer, '-0'],
  ['more digits than a number holds', integer, '9007199254740993'],
  ['the empty string', integer, ''],
  ['Infinity', number, 'Infinity'],
  ['a number for a string', text, 5],
  ['a boolean for a string', text, true],
  ['an object for a string', text, { a: 1 }],
  ['a list of one for a string', text, ['a']],
  ['cut-off JSON for a list', list(text), '["a'],
  ['JSON of another type', { type: 'object' }, '[1]'],
  ['null for a list', { type: 'array', items: text, minItems: 1 }, [null]],
  ['a wrong single value for a list', list(integer), 'x'],
  ['digits where a string is accepted', { type: ['string', 'integer'], maxLength: 0 }, '5'],
  ['two readings that are equally near', { anyOf: [object({ aB: integer }), object({ ab: integer })] }, { a_b: 1 }],
])('%s is left alone', (_, schema, given) => {
  expect(repairParams(one(schema), { x: given })).toEqual({ value: { x: given }, repairs: [] });
});

const files = object({ absolute_path: text, limit: integer }, { required: ['absolute_path'] });
const aliases = { absolute_path: ['file_path', 'path'] };

test.each<[string, unknown, unknown, string[]]>([
  ['an alias', { file_path: 'a' }, { absolute_path: 'a' }, ['"file_path" read as "absolute_path"']],
  ['another case style', { absolutePath: 'a' }, { absolute_path: 'a' }, ['"absolutePath" read as "absolute_path"']],
  ['null for an option', { absolute_path: 'a', limit: null }, { absolute_path: 'a' }, ['"limit": null left out']],
  [
    'a quoted number',
    { absolute_path: '1', limit: '5' },
    { absolute_path: '1', limit: 5 },
    ['"limit": "5" read as the number 5'],
  ],
  ['two candidates', { file_path: 'a', path: 'b' }, { file_path: 'a', path: 'b' }, []],
  ['an alias beside its name', { absolute_path: 'a', path: 'b' }, { absolute_path: 'a', path: 'b' }, []],
  ['null for a required name', { absolute_path: null }, { absolute_path: null }, []],
  [
    'all of it as JSON text',
    '{"absolute_path":"a"}',
    { absolute_path: 'a' },
    ['the parameters: "{\\"absolute_path\\":\\"a\\"}" read as an object'],
  ],
])('names: %s', (_, given, value, repairs) => {
  expect(repairParams(files, given, aliases)).toEqual({ value, repairs });
});

test('a local reference is followed, also a recursive one', () => {
  const tree = object({ size: integer, child: { $ref: '#' } });
  const result = repairParams(tree, { child: { child: { size: '3' } } });
  expect(result).toEqual({
    value: { child: { child: { size: 3 } } },
    repairs: ['"child.child.size": "3" read as the number 3'],
  });
});

// The screenshot tool of Playwright's MCP server declares its type like this.
const screenshot = object({ type: { enum: ['png', 'jpeg'], default: 'png' }, filename: text }, { required: ['type'] });

test('a required parameter that is missing gets its default, as a visible repair', () => {
  const repairs = ['"type": missing, so its default "png" is used'];
  expect(repairParams(screenshot, {})).toEqual({ value: { type: 'png' }, repairs });
  expect(repairParams(screenshot, { type: 'jpeg' })).toEqual({ value: { type: 'jpeg' }, repairs: [] });
});

test.each<[string, JsonSchema]>([
  ['of an optional parameter', object({ x: text, y: { default: 1 } }, { required: ['x'] })],
  ['that does not fit', object({ x: { type: 'integer', default: 'one' } }, { required: ['x'] })],
])('a default %s is not filled in', (_, schema) => {
  expect(repairParams(schema, {})).toEqual({ value: {}, repairs: [] });
});

test('a default that is filled in is a copy', () => {
  const initial = { a: [1] };
  const schema = object({ x: { type: 'object', default: initial } }, { required: ['x'] });
  const { value } = repairParams(schema, {});
  expect(value).toEqual({ x: initial });
  expect(Reflect.get(Object(value), 'x')).not.toBe(initial);
});

test('names of the prototype stay plain data', () => {
  const given: unknown = JSON.parse('{"__proto__":{"polluted":"1"},"constructor":"2","x":"5"}');
  const { value } = repairParams({ type: 'object', properties: { x: integer } }, given);
  expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":"1"},"constructor":"2","x":5}');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('a null is replaced by an alias, but not if two properties have it', () => {
  const schema = object({ a_b: integer });
  expect(repairParams(schema, { 'A-b': '5', a_b: null }).value).toEqual({ a_b: 5 });
  const both = object({ a_b: integer, aB: integer });
  expect(repairParams(both, { 'A-b': '5', a_b: null }).value).toEqual({ 'A-b': '5' });
});

const anySchema = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(integer, number, boolean, text, { type: 'null' }, { enum: ['a', 1, true] }, {}),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'a_b', 'aB', '__proto__', 'constructor'), tie('schema')),
      additionalProperties: fc.boolean(),
      required: fc.subarray(['a', 'a_b', '__proto__']),
    }),
    fc.record({ type: fc.constantFrom('integer', 'string'), default: fc.constantFrom(1, 'x') }),
  ),
})).schema;
const leaf = fc.constantFrom<unknown>('5', 'true', '[1]', '{"a":"1"}', '["5"]', 5, true, null, 'x', '\uD800');
const anyValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'a_b', 'aB', 'A-b', '__proto__', 'constructor'), tie('value')),
  ),
})).value;

test('repair is pure and idempotent, keeps what fits, and pollutes nothing', () => {
  const prototype = Object.getOwnPropertyNames(Object.prototype).join();
  fc.assert(
    fc.property(anySchema, anyValue, (inner, given) => {
      const schema = one(inner);
      const value = { x: given };
      const before = JSON.stringify(value);
      const first = repairParams(schema, value);
      expect(JSON.stringify(value)).toBe(before);
      const fits = describeMismatch(schema, value) === null;
      expect(fits ? first : null).toEqual(fits ? { value, repairs: [] } : null);
      expect(first.repairs.length > 0 || JSON.stringify(first.value) === before).toBe(true);
      expect(repairParams(schema, first.value)).toEqual({ value: first.value, repairs: [] });
    }),
    { numRuns: process.env['LATHE_LONG'] ? 50_000 : 3_000 },
  );
  report('random parameters repaired', process.env['LATHE_LONG'] ? 50_000 : 3_000);
  expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(prototype);
}, 180_000);
