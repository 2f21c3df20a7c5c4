import { show } from './expectation.js';
import { describeMismatch, metaSchemas } from './json-schema.js';
import { safePattern } from './safe-pattern.js';
import type { SchemaNode } from './schema-nodes.js';
import { isRecord, own, ownList, ownRecord, quote, resolveReference, subschemas } from './schema-nodes.js';

const maxDepth = 64;
const maxNodes = 5_000;
const maxChars = 256 * 1024;
const tooLarge = `is larger than ${maxChars / 1024} KB`;

/** Schemas that passed the check. */
const accepted = new WeakSet<object>();

/** Marks a schema as checked: one that was made from a checked one and differs only in its texts. */
export function acceptSchema(schema: object): void {
  accepted.add(schema);
}

/**
 * Why a schema is rejected, or `null`. Called once, when a tool is registered. An accepted schema can be checked in
 * bounded time; a schema that cannot be checked is rejected, never skipped.
 */
export function schemaProblem(schema: unknown): string | null {
  try {
    return firstProblem(schema);
  } catch (error) {
    return `The schema cannot be checked: ${error instanceof Error ? error.message : 'unknown error'}`;
  }
}

function firstProblem(schema: unknown): string | null {
  if (!isRecord(schema)) return 'The schema must be an object';
  if (accepted.has(schema)) return null;
  const size = sizeProblem(schema);
  if (size !== null) return `The schema ${size}`;
  const type = own(schema, 'type');
  if (type !== undefined && type !== 'object') return 'The schema must describe an object: "type" must be "object"';
  const nodes = collectNodes(schema);
  return (
    metaProblem(schema, nodes) ?? referenceProblem(schema, nodes) ?? patternProblem(nodes) ?? loopProblem(schema, nodes)
  );
}

/** Walks level by level without recursion and stops at the first limit, so 10 MB cost no more than 256 KB. */
function sizeProblem(schema: SchemaNode): string | null {
  let level: unknown[] = [schema];
  let nodes = 0;
  let chars = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return `is nested more than ${maxDepth} levels deep`;
    const next: unknown[] = [];
    for (const value of level) {
      const weight = weigh(value);
      if (weight === null) return 'contains a value that JSON cannot represent';
      chars += weight;
      if (typeof value === 'boolean') nodes++;
      if (typeof value === 'object' && value !== null) {
        nodes++;
        if (Array.isArray(value) && value.length > maxChars) return tooLarge;
        for (const key of Object.keys(value)) {
          if (!Array.isArray(value)) chars += key.length + 3;
          next.push(Reflect.get(value, key));
        }
      }
      if (nodes > maxNodes) return `has more than ${maxNodes} nodes`;
      if (chars > maxChars) return tooLarge;
    }
    level = next;
  }
  return null;
}

/** The approximate length of a value as JSON, without its children. */
function weigh(value: unknown): number | null {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return null;
  return typeof value === 'object' ? 3 : 6;
}

function collectNodes(root: SchemaNode): Set<SchemaNode> {
  const nodes = new Set<SchemaNode>();
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (!isRecord(node) || nodes.has(node)) continue;
    nodes.add(node);
    waiting.push(...subschemas(node));
  }
  return nodes;
}

const dialects = {
  'draft-07': /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/,
  '2020-12': /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/,
} as const;

function metaProblem(schema: SchemaNode, nodes: ReadonlySet<SchemaNode>): string | null {
  const dialect = own(schema, '$schema');
  const isOf = (name: keyof typeof dialects) => typeof dialect === 'string' && dialects[name].test(dialect);
  if (dialect !== undefined && !isOf('draft-07') && !isOf('2020-12'))
    return `"$schema" must name draft-07 or 2020-12, got ${show(dialect)}`;
  if (arePlain(nodes)) return null;
  if (isOf('draft-07')) return problemUnder('draft-07', schema);
  if (isOf('2020-12')) return problemUnder('2020-12', schema);
  // Draft-07 first: it takes a tenth of the time to compile and accepts nearly every schema.
  return problemUnder('draft-07', schema) && problemUnder('2020-12', schema);
}

function problemUnder(name: keyof typeof dialects, schema: SchemaNode): string | null {
  if (describeMismatch(metaSchemas[name], schema) === null) return null;
  // The draft-07 meta-schema is a single document and gives the best messages; most mistakes are the same in both.
  const problem = describeMismatch(metaSchemas['draft-07'], schema) ?? `it does not follow ${name}`;
  return `The schema is not valid: ${problem.replaceAll('the parameters', 'the schema')}`;
}

function referenceProblem(root: SchemaNode, nodes: ReadonlySet<SchemaNode>): string | null {
  for (const node of nodes) {
    for (const key of ['$dynamicRef', '$recursiveRef'])
      if (own(node, key) !== undefined) return `The schema uses ${key}, which is not supported`;
    if (node !== root && own(node, '$id') !== undefined) return 'The schema has an inner "$id", which is not supported';
    const reference = own(node, '$ref');
    if (reference === undefined) continue;
    const shown = show(reference);
    if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference))
      return `The schema refers to ${shown}: only references inside the schema ("#/…") are followed`;
    const target = resolveReference(root, reference);
    if (typeof target !== 'boolean' && !(isRecord(target) && nodes.has(target)))
      return `The schema refers to ${shown}, where there is no schema`;
  }
  return null;
}

function patternProblem(nodes: ReadonlySet<SchemaNode>): string | null {
  for (const node of nodes) {
    const pattern = own(node, 'pattern');
    const names = Object.keys(ownRecord(node, 'patternProperties'));
    for (const source of typeof pattern === 'string' ? [...names, pattern] : names) {
      const safe = safePattern(source);
      if (typeof safe === 'string') return `The pattern ${quote(source)} ${safe}`;
    }
  }
  return null;
}

/** Finds a schema that applies itself to the same value again, such as `{"$ref": "#"}`, which never ends. */
function loopProblem(root: SchemaNode, nodes: ReadonlySet<SchemaNode>): string | null {
  const state = new Map<SchemaNode, 'open' | 'done'>();
  const isEndless = (node: unknown): boolean => {
    if (!isRecord(node) || state.get(node) === 'done') return false;
    if (state.get(node) === 'open') return true;
    state.set(node, 'open');
    const found = inPlace(root, node).some(isEndless);
    state.set(node, 'done');
    return found;
  };
  for (const node of nodes) if (isEndless(node)) return 'The schema refers to itself in an endless loop';
  return null;
}

/** The schemas that apply to the same value as `node` does. */
function inPlace(root: SchemaNode, node: SchemaNode): unknown[] {
  return [
    resolveReference(root, own(node, '$ref')),
    ...['not', 'if', 'then', 'else'].map((key) => own(node, key)),
    ...['allOf', 'anyOf', 'oneOf'].flatMap((key) => ownList(node, key)),
    ...['dependentSchemas', 'dependencies'].flatMap((key) => Object.values(ownRecord(node, key))),
  ];
}

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
