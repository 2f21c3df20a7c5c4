import { isRecord, type SchemaNode } from './schema-nodes.js';

type Test = (value: unknown) => boolean;

const isString: Test = (value) => typeof value === 'string';
const isNumber: Test = (value) => Number.isFinite(value);
const isCount: Test = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isBoolean: Test = (value) => typeof value === 'boolean';
const isSchema: Test = (value) => isRecord(value) || isBoolean(value);
const isSchemaMap: Test = (value) => isRecord(value) && Object.values(value).every(isSchema);
const isSchemaList: Test = (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema);
const isStringSet =
  (least: number): Test =>
  (value) =>
    Array.isArray(value) && value.length >= least && value.every(isString) && new Set(value).size === value.length;
const anything: Test = () => true;

const types = new Set<unknown>(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

/** Keywords that nearly all schemas use and that mean the same in both dialects. */
const keywords: ReadonlyMap<string, Test> = new Map([
  ...['$schema', 'title', 'description', '$comment', 'format', 'pattern'].map((name) => [name, isString] as const),
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'].map(
    (name) => [name, isCount] as const,
  ),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((name) => [name, isNumber] as const),
  ...['default', 'const'].map((name) => [name, anything] as const),
  ...['items', 'additionalProperties', 'not'].map((name) => [name, isSchema] as const),
  ...['allOf', 'anyOf', 'oneOf'].map((name) => [name, isSchemaList] as const),
  ['type', (value) => types.has(value)],
  ['properties', isSchemaMap],
  ['required', isStringSet(0)],
  ['enum', isStringSet(1)],
  ['uniqueItems', isBoolean],
]);

/**
 * Whether schemas are so simple that they are valid without a check against a meta-schema, which takes up to 200 ms to
 * compile. False means unknown.
 */
export function arePlain(nodes: Iterable<SchemaNode>): boolean {
  for (const node of nodes)
    for (const [key, value] of Object.entries(node)) if (keywords.get(key)?.(value) !== true) return false;
  return true;
}
