import { attempt } from '../../contract/errors.js';
/** One object inside a JSON Schema. */
export type SchemaNode = Readonly<Record<string, unknown>>;

const single = ['additionalProperties', 'additionalItems', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'];
const singles = [...single, 'items', 'unevaluatedItems', 'unevaluatedProperties', 'contentSchema'];
const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
const maps = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own property, so that `constructor` and `__proto__` are ordinary names. */
export function own(node: SchemaNode, key: string): unknown {
  return Object.hasOwn(node, key) ? node[key] : undefined;
}

export function ownRecord(node: SchemaNode, key: string): SchemaNode {
  const value = own(node, key);
  return isRecord(value) ? value : {};
}

export function ownList(node: SchemaNode, key: string): readonly unknown[] {
  const value = own(node, key);
  return Array.isArray(value) ? value : [];
}

/** The direct subschemas of a schema. */
export function subschemas(node: SchemaNode): unknown[] {
  return [
    ...singles.map((key) => own(node, key)).filter((value) => isRecord(value) || typeof value === 'boolean'),
    ...lists.flatMap((key) => ownList(node, key)),
    ...maps.flatMap((key) => Object.values(ownRecord(node, key)).filter((value) => !Array.isArray(value))),
  ];
}

/** A copy with `change` applied to every schema object, inner ones first. */
export function mapSchemas(node: unknown, change: (node: SchemaNode) => SchemaNode, depth = 0): unknown {
  if (!isRecord(node)) return node;
  if (depth > 200) throw new RangeError('The schema is nested too deeply');
  const inner = (value: unknown) => mapSchemas(value, change, depth + 1);
  const entries = Object.entries(node).map(([key, value]): [string, unknown] => {
    if (lists.includes(key) && Array.isArray(value)) return [key, value.map(inner)];
    if (singles.includes(key)) return [key, inner(value)];
    if (!maps.includes(key) || !isRecord(value)) return [key, value];
    return [key, Object.fromEntries(Object.entries(value).map(([name, child]) => [name, inner(child)]))];
  });
  return change(Object.fromEntries(entries));
}

/** What `#` or `#/a/b` points to inside `root`; `undefined` for anything else. */
export function resolveReference(root: unknown, reference: unknown): unknown {
  if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) return undefined;
  let target = root;
  for (const part of reference.split('/').slice(1)) {
    const key = attempt(() => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
    if (key === undefined || typeof target !== 'object' || target === null || !Object.hasOwn(target, key))
      return undefined;
    target = Reflect.get(target, key);
  }
  return target;
}

/** The path of a field inside a value, such as `todos[2].status`. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  if (!/^[\w$-]{1,60}$/.test(key)) return `${path}[${quote(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** JSON text of a string, cut to a length that fits in a sentence. */
export function quote(text: string): string {
  return text.length > 60 ? `${JSON.stringify(text.slice(0, 57))}…` : JSON.stringify(text);
}
