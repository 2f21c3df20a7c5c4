import { isRecord, own, ownList, ownRecord, quote, resolveReference, type SchemaNode } from './schema-nodes.js';

const nouns: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

/** The shape a schema asks for, as a noun phrase: `an integer of at least 1`. */
export function expectation(root: unknown, node: unknown, depth = 0): string {
  if (!isRecord(node) || depth > 4) return 'something else';
  const inner = (schema: unknown) => expectation(root, schema, depth + 1);
  const reference = own(node, '$ref');
  if (reference !== undefined) return inner(resolveReference(root, reference));
  if (Object.hasOwn(node, 'const')) return show(node['const']);
  const listed = own(node, 'enum');
  if (Array.isArray(listed)) return `one of ${listSome(listed.map(show), 12)}`;
  const branches = [...ownList(node, 'anyOf'), ...ownList(node, 'oneOf')];
  if (branches.length > 0) return listSome([...new Set(branches.map(inner))], 5, ' or ');
  const type = own(node, 'type');
  const types = Array.isArray(type) ? type : [type];
  return listSome(
    types.map((name) => phrase(String(name), node, inner)),
    7,
    ' or ',
  );
}

function phrase(type: string, node: SchemaNode, inner: (schema: unknown) => string): string {
  const noun = nouns[type] ?? 'something else';
  switch (type) {
    case 'integer':
    case 'number':
      return noun + numberLimits(node);
    case 'string':
      return noun + stringLimits(node);
    case 'array': {
      const items = own(node, 'items');
      const size = between(own(node, 'minItems'), own(node, 'maxItems'), 'items');
      return `${noun}${isRecord(items) ? `, each item ${inner(items)}` : ''}${size && `, with ${size}`}`;
    }
    case 'object': {
      const required = ownList(node, 'required').map(String);
      const names = required.length > 0 ? required : Object.keys(ownRecord(node, 'properties'));
      return names.length > 0 ? `${noun} with ${listNames(names)}` : noun;
    }
    default:
      return noun;
  }
}

function numberLimits(node: SchemaNode): string {
  const parts = [
    ['minimum', 'of at least'],
    ['exclusiveMinimum', 'above'],
    ['maximum', 'of at most'],
    ['exclusiveMaximum', 'below'],
    ['multipleOf', 'that is a multiple of'],
  ].flatMap(([key = '', words]) => (typeof own(node, key) === 'number' ? [`${words} ${String(own(node, key))}`] : []));
  return parts.length > 0 ? ` ${parts.join(' and ')}` : '';
}

function stringLimits(node: SchemaNode): string {
  const size = between(own(node, 'minLength'), own(node, 'maxLength'), 'characters');
  const pattern = own(node, 'pattern');
  return (size && ` of ${size}`) + (typeof pattern === 'string' ? ` matching ${quote(pattern)}` : '');
}

function between(min: unknown, max: unknown, unit: string): string {
  const least = typeof min === 'number' && min > 0 ? `at least ${min}` : '';
  const most = typeof max === 'number' ? `at most ${max}` : '';
  return least || most ? `${[least, most].filter(Boolean).join(' and ')} ${unit}` : '';
}

/** A value for a message: short and on one line. */
export function show(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  return isRecord(value) ? 'an object' : String(value);
}

export function listNames(names: readonly string[]): string {
  return listSome(
    names.map((name) => (/^[\w$-]{1,60}$/.test(name) ? name : quote(name))),
    10,
  );
}

function listSome(items: readonly string[], most: number, separator = ', '): string {
  const more = items.length - most;
  return items.slice(0, most).join(separator) + (more > 0 ? `${separator}${more} more` : '');
}
