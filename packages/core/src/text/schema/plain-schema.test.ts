import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeMismatch, metaSchemas } from './json-schema.js';
import { arePlain } from './schema-check.js';
import { isRecord, type SchemaNode, subschemas } from './schema-nodes.js';

function nodesIn(schema: unknown): SchemaNode[] {
  return isRecord(schema) ? [schema, ...subschemas(schema).flatMap(nodesIn)] : [];
}

const names =
  '$schema title format pattern minLength maxItems minimum exclusiveMaximum default const items additionalProperties not anyOf ' +
  'type properties required enum uniqueItems';
const name = fc.constantFrom(...names.split(' '));
const { schema } = fc.letrec((tie) => ({
  schema: fc.dictionary(
    name,
    fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<unknown>('string', 'object', 'strnig', '', 0, 3, -1, 1.5, Number.NaN, true, false, null, [], {}),
      fc.constantFrom<unknown>(['a'], ['a', 'a'], [1], [null], { a: true }, { a: 1 }, [true], [{}]),
      tie('schema'),
      fc.array(tie('schema'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', 'constructor'), tie('schema')),
    ),
    { maxKeys: 4 },
  ),
}));

test('what counts as plain is valid under both meta-schemas', { timeout: 60_000 }, () => {
  let plain = 0;
  fc.assert(
    fc.property(schema, (candidate) => {
      if (!arePlain(nodesIn(candidate))) return;
      plain++;
      for (const meta of Object.values(metaSchemas)) expect(describeMismatch(meta, candidate)).toBeNull();
    }),
    { numRuns: 5_000 },
  );
  expect(plain).toBeGreaterThan(500);
});

test.each([
  [{ type: 'object', properties: { a: { type: 'string', enum: ['x'] } }, required: ['a'] }, true],
  [{ type: ['object', 'null'] }, false],
  [{ properties: { a: { type: 'strnig' } } }, false],
  [{ required: ['a', 'a'] }, false],
  [{ type: 'string', pattern: '\\S' }, true],
  [{ $ref: '#' }, false],
])('%j is plain: %s', (candidate, expected) => {
  expect(arePlain(nodesIn(candidate))).toBe(expected);
});
