import { expect, test } from 'vitest';
import { schemaProblem } from './schema-check.js';

const withX = (x: unknown) => ({ type: 'object', properties: { x } });
const nested = (depth: number): unknown => {
  let schema: unknown = { type: 'string' };
  for (let level = 0; level < depth; level++) schema = { properties: { a: schema } };
  return schema;
};

test.each<[string, unknown]>([
  ['an empty schema', {}],
  ['draft-07', { $schema: 'http://json-schema.org/draft-07/schema#', ...withX({ items: [{ type: 'string' }] }) }],
  ['2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema', ...withX({ prefixItems: [true] }) }],
  ['a tree', withX({ $ref: '#' })],
  ['a local reference', { ...withX({ $ref: '#/$defs/a' }), $defs: { a: { type: 'string' } } }],
  [
    'a property named pattern',
    { type: 'object', properties: { pattern: { type: 'string' }, $ref: { type: 'string' } } },
  ],
  ['a pattern that JavaScript would match in exponential time', withX({ type: 'string', pattern: '^(a+)+$' })],
  ['such a pattern for names', { patternProperties: { '^(a|a)*$': true } }],
  ['a backreference', withX({ pattern: '^(a)\\1$' })],
  ['a slug', withX({ pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$' })],
])('%s is accepted', (_, schema) => {
  expect(schemaProblem(schema)).toBeNull();
});

test.each<[string, unknown, string]>([
  ['no object', 'string', 'must be an object'],
  ['another root type', { type: 'string' }, 'must describe an object'],
  ['a misspelt type', withX({ type: 'strnig' }), 'properties.x.type must be'],
  [
    'a misspelt type in 2020-12',
    { $schema: 'https://json-schema.org/draft/2020-12/schema', ...withX({ type: 'strnig' }) },
    'properties.x.type',
  ],
  ['an unknown dialect', { $schema: 'http://example.com/schema' }, '"$schema" must name'],
  ['a remote reference', withX({ $ref: 'http://127.0.0.1:9/x' }), 'only references inside the schema'],
  ['a file reference', withX({ $ref: 'file:///etc/passwd' }), 'only references inside the schema'],
  ['a dangling reference', withX({ $ref: '#/$defs/none' }), 'where there is no schema'],
  ['a reference to the prototype', withX({ $ref: '#/constructor' }), 'where there is no schema'],
  ['a loop at the root', { $ref: '#' }, 'endless loop'],
  ['a loop through allOf', { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } } }, 'endless loop'],
  ['a broken pattern', withX({ pattern: '(' }), 'not a valid regular expression'],
  ['10 MB', { description: 'x'.repeat(10_000_000) }, 'larger than 256 KB'],
  [
    '10,000 properties',
    { properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}`, {}])) },
    'more than 5000 nodes',
  ],
  ['100,000 levels', nested(100_000), 'more than 64 levels'],
  ['a function', withX({ default: () => 1 }), 'JSON cannot represent'],
])('%s is rejected', (_, schema, reason) => {
  expect(schemaProblem(schema)).toContain(reason);
});
