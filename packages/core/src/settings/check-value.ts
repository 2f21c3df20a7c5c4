import { closestNames } from '../text/closest-names.js';
import type { JsonNode, JsonObjectNode, JsonValue } from './parse-jsonc.js';
import { describeShape, expandVariables, type Shape } from './shape.js';

export interface CheckContext {
  env: Readonly<Record<string, string | undefined>>;
  report(node: { line: number }, key: string, message: string): void;
}

/** Names with a special meaning in JavaScript; no setting uses them. */
const reserved = new Set(['__proto__', 'constructor', 'prototype']);

export const isReserved = (name: string): boolean => reserved.has(name);

/**
 * The value of a node with variables expanded, if it has the shape; otherwise reports a problem and returns `undefined`.
 * A wrong entry of a list is left out and the others stay. An object with any mistake is left out as a whole, because
 * half a definition may permit more than the whole one.
 */
export function checkValue(shape: Shape, node: JsonNode, key: string, context: CheckContext): JsonValue | undefined {
  const value = read(shape, node, key, context);
  if (value === undefined) context.report(node, key, `Expected ${describeShape(shape)}, but found ${describe(node)}.`);
  return value === wrongInside ? undefined : value;
}

/** The problems inside the value are reported already. */
const wrongInside = Symbol('wrong inside');

type Outcome = JsonValue | undefined | typeof wrongInside;

function read(shape: Shape, node: JsonNode, key: string, context: CheckContext): Outcome {
  switch (shape.is) {
    case 'boolean':
    case 'integer':
    case 'number':
    case 'choice':
    case 'string':
      return node.type === 'scalar' ? readScalar(shape, node.value, context) : undefined;
    case 'list':
      return readList(shape, node, key, context);
    case 'map':
    case 'object':
      if (shape.is === 'object' && shape.orFalse && node.type === 'scalar' && node.value === false) return false;
      if (node.type !== 'object') return undefined;
      if (node.entries.length > maxEntries) {
        context.report(node, key, `The object has more than ${maxEntries} entries.`);
        return wrongInside;
      }
      return shape.is === 'map' ? readMap(shape, node, key, context) : readObject(shape, node, key, context);
  }
}

/** Far more than any object needs. The search for the closest name takes time for each unknown field. */
const maxEntries = 500;

type ScalarShape = Extract<Shape, { is: 'boolean' | 'integer' | 'number' | 'choice' | 'string' }>;

function readScalar(shape: ScalarShape, written: string | number | boolean | null, context: CheckContext): Outcome {
  const value = typeof written === 'string' ? expandVariables(written, context.env) : written;
  if (shape.is === 'choice') {
    if (typeof value === 'string' && shape.of.includes(value)) return value;
    return Object.hasOwn(shape.also, String(value)) ? shape.also[String(value)] : undefined;
  }
  return hasShape(shape, value) ? value : undefined;
}

function hasShape(shape: Exclude<ScalarShape, { is: 'choice' }>, value: string | number | boolean | null): boolean {
  if (shape.is === 'boolean') return typeof value === 'boolean';
  if (shape.is === 'integer')
    return Number.isInteger(value) && Number(value) >= shape.min && Number(value) <= shape.max;
  if (shape.is === 'number') return Number.isFinite(value) && Number(value) >= shape.min;
  if (typeof value !== 'string' || value.includes('\0')) return false;
  if (value.trim() === '' && !shape.mayBeBlank) return false;
  return shape.pattern?.test(value) ?? true;
}

type ListShape = Extract<Shape, { is: 'list' }>;

function readList({ item, allowSingle }: ListShape, node: JsonNode, key: string, context: CheckContext): Outcome {
  if (node.type !== 'array') {
    const single = allowSingle && node.type === 'scalar' ? read(item, node, key, context) : undefined;
    return single === undefined || single === wrongInside ? undefined : [single];
  }
  return node.items.flatMap((child, index) => {
    const value = checkValue(item, child, `${key}[${index}]`, context);
    return value === undefined ? [] : [value];
  });
}

type MapShape = Extract<Shape, { is: 'map' }>;

function readMap(shape: MapShape, node: JsonObjectNode, key: string, context: CheckContext): Outcome {
  const values: Record<string, JsonValue> = Object.create(null);
  for (const entry of uniqueEntries(node, key, context)) {
    if (shape.names?.includes(entry.key) === false) {
      context.report(entry, `${key}.${entry.key}`, `Unknown name. Known: ${shape.names.join(', ')}.`);
      continue;
    }
    const { value, reported } = checkCounting(shape.value, entry.value, `${key}.${entry.key}`, context);
    if (value !== undefined && !reported) values[entry.key] = value;
  }
  return values;
}

type ObjectShape = Extract<Shape, { is: 'object' }>;

function readObject(shape: ObjectShape, node: JsonObjectNode, key: string, context: CheckContext): Outcome {
  const values: Record<string, JsonValue> = Object.create(null);
  let isWrong = false;
  for (const entry of uniqueEntries(node, key, context)) {
    const field = Object.hasOwn(shape.fields, entry.key) ? shape.fields[entry.key] : undefined;
    if (field === undefined) {
      const meant = closestName(entry.key, Object.keys(shape.fields));
      if (meant === undefined) continue;
      context.report(entry, `${key}.${entry.key}`, `Unknown key. Did you mean "${meant}"?`);
      isWrong = true;
      continue;
    }
    const { value, reported } = checkCounting(field, entry.value, `${key}.${entry.key}`, context);
    if (value === undefined || reported) isWrong = true;
    else values[entry.key] = value;
  }
  const missing = shape.required.filter((name) => !node.entries.some((entry) => entry.key === name));
  if (missing.length > 0) context.report(node, key, `"${missing.join('", "')}" is missing.`);
  return isWrong || missing.length > 0 ? wrongInside : values;
}

function checkCounting(shape: Shape, node: JsonNode, key: string, context: CheckContext) {
  let reported = false;
  const value = checkValue(shape, node, key, {
    env: context.env,
    report: (...details) => {
      reported = true;
      context.report(...details);
    },
  });
  return { value, reported };
}

/** Entries with safe names. If a name is written twice, the last one counts, as in JSON, and the problem is reported. */
export function uniqueEntries(node: JsonObjectNode, key: string, context: CheckContext): JsonObjectNode['entries'] {
  const last = new Map<string, JsonObjectNode['entries'][number]>();
  for (const entry of node.entries) {
    const path = key === '' ? entry.key : `${key}.${entry.key}`;
    if (isReserved(entry.key)) context.report(entry, path, 'This name cannot be used.');
    else if (last.has(entry.key)) context.report(entry, path, 'The key is written twice in this object.');
    if (!isReserved(entry.key)) last.set(entry.key, entry);
  }
  return [...last.values()];
}

function describe(node: JsonNode): string {
  if (node.type === 'object') return 'an object';
  if (node.type === 'array') return 'a list';
  if (typeof node.value !== 'string') return String(node.value);
  const text = node.value.length > 60 ? `${node.value.slice(0, 60)}…` : node.value;
  return JSON.stringify(text);
}

/** The known name that was most likely meant, or `undefined` when none is close. */
export function closestName(name: string, known: Iterable<string>): string | undefined {
  const within = name.length < 5 ? 1 : Math.min(3, Math.floor(name.length / 4) + 1);
  return closestNames(name, known, { count: 1, within })[0];
}
