import { allSettings, type KnownSetting } from './keys.js';
import type { Shape } from './shape.js';

interface SchemaNode {
  [keyword: string]: unknown;
  properties?: Record<string, SchemaNode>;
}

/** JSON Schema of a settings file, for completion in editors; older spellings are marked as deprecated. */
export function settingsSchema(): SchemaNode {
  const root: SchemaNode = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Lathe settings',
    type: 'object',
    properties: { $schema: { type: 'string' }, $version: { type: 'integer' } },
    additionalProperties: false,
  };
  for (const setting of allSettings) {
    place(root, setting.key, schemaOf(setting));
    for (const spelling of setting.also) place(root, spelling, { ...schemaOf(setting), ...deprecation(setting.key) });
  }
  return root;
}

function schemaOf({ shape, description, fallback }: KnownSetting): SchemaNode {
  return { description, ...shapeSchema(shape), ...(fallback !== undefined && { default: fallback }) };
}

function deprecation(key: string): SchemaNode {
  const message = `Still accepted; the name is now "${key}".`;
  return { deprecated: true, deprecationMessage: message, description: message };
}

/** A spelling may be a value and a group, such as `tools.sandbox`; then both are valid. */
function place(root: SchemaNode, spelling: string, schema: SchemaNode): void {
  const names = spelling.split('.');
  const last = names.pop() ?? spelling;
  let group = root;
  for (const name of names) {
    group.properties ??= {};
    const next = (group.properties[name] ??= { type: 'object', properties: {}, additionalProperties: false });
    group = next;
  }
  group.properties ??= {};
  const present = group.properties[last];
  group.properties[last] = present === undefined ? schema : { anyOf: [present, schema] };
}

function shapeSchema(shape: Shape): SchemaNode {
  switch (shape.is) {
    case 'boolean':
      return { type: 'boolean' };
    case 'integer':
      return {
        type: 'integer',
        minimum: shape.min,
        ...(shape.max < Number.MAX_SAFE_INTEGER && { maximum: shape.max }),
      };
    case 'string':
      // A reference to a variable does not match a pattern, and its value is unknown here.
      return { type: 'string', minLength: 1 };
    case 'choice':
      return { enum: [...shape.of, ...Object.keys(shape.also).map(literal)] };
    case 'list': {
      const list = { type: 'array', items: shapeSchema(shape.item) };
      return shape.allowSingle ? { anyOf: [list, shapeSchema(shape.item)] } : list;
    }
    case 'map':
      return { type: 'object', additionalProperties: shapeSchema(shape.value) };
    case 'object': {
      const fields = Object.entries(shape.fields).map(([name, field]) => [name, shapeSchema(field)] as const);
      const required = shape.required.length > 0 && { required: shape.required };
      return { type: 'object', properties: Object.fromEntries(fields), ...required };
    }
  }
}

function literal(word: string): string | boolean {
  return word === 'true' || word === 'false' ? word === 'true' : word;
}
