// What is generated from the table of settings: the JSON Schema for editors, and the table of docs/settings.md.

/** JSON Schema of a settings file, for completion in editors; older spellings are marked as deprecated. */
export function settingsSchema(allSettings) {
  const root = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Lathe settings',
    type: 'object',
    properties: { $schema: { type: 'string' }, $version: { type: 'integer' } },
    additionalProperties: false,
  };
  for (const { key, also, shape, description, fallback } of allSettings) {
    const schema = { description, ...shapeSchema(shape), ...(fallback !== undefined && { default: fallback }) };
    place(root, key, schema);
    const message = `Still accepted; the name is now "${key}".`;
    const deprecation = { deprecated: true, deprecationMessage: message, description: message };
    for (const spelling of also) place(root, spelling, { ...schema, ...deprecation });
  }
  return root;
}

/** A spelling may be a value and a group, such as `tools.sandbox`; then both are valid. */
function place(root, spelling, schema) {
  const names = spelling.split('.');
  const last = names.pop();
  let group = root;
  for (const name of names) {
    group.properties ??= {};
    group = group.properties[name] ??= { type: 'object', properties: {}, additionalProperties: false };
  }
  group.properties ??= {};
  const present = group.properties[last];
  group.properties[last] = present === undefined ? schema : { anyOf: [present, schema] };
}

function shapeSchema(shape) {
  switch (shape.is) {
    case 'boolean':
      return { type: 'boolean' };
    case 'integer':
      return {
        type: 'integer',
        minimum: shape.min,
        ...(shape.max < Number.MAX_SAFE_INTEGER && { maximum: shape.max }),
      };
    case 'number':
      return { type: 'number', minimum: shape.min };
    case 'string':
      // A reference to a variable does not match a pattern, and its value is unknown here.
      return shape.mayBeBlank ? { type: 'string' } : { type: 'string', minLength: 1 };
    case 'choice':
      return { enum: [...shape.of, ...Object.keys(shape.also).map(literal)] };
    case 'list': {
      const list = { type: 'array', items: shapeSchema(shape.item) };
      return shape.allowSingle ? { anyOf: [list, shapeSchema(shape.item)] } : list;
    }
    case 'map':
      return {
        type: 'object',
        ...(shape.names && { propertyNames: { enum: shape.names } }),
        additionalProperties: shapeSchema(shape.value),
      };
    case 'object': {
      const fields = Object.entries(shape.fields).map(([name, field]) => [name, shapeSchema(field)]);
      const required = shape.required.length > 0 && { required: shape.required };
      const object = { type: 'object', properties: Object.fromEntries(fields), ...required };
      return shape.orFalse ? { anyOf: [object, { const: false }] } : object;
    }
    default:
      throw new Error(`Unknown shape ${shape.is}`);
  }
}

function literal(word) {
  return word === 'true' || word === 'false' ? word === 'true' : word;
}

/** The table of docs/settings.md: every setting with its values, its default, and whether a workspace may set it. */
export function settingsDocument(allSettings, describeShape) {
  const rows = allSettings.map(({ key, also, shape, fallback, description, env, workspace, merge }) => {
    const names = also.length === 0 ? '' : `<br>also ${also.map((name) => `\`${name}\``).join(', ')}`;
    const variable = env === undefined ? '' : `<br>variable \`${env}\``;
    const value = shape.is === 'map' ? 'an object' : describeShape(shape);
    const usual = fallback === undefined ? '–' : `\`${JSON.stringify(fallback)}\``;
    return `| \`${key}\`<br>${description}${names}${variable} | ${value} | ${usual} | ${workspaceText(workspace, merge)} |`;
  });
  return ['| Setting | Value | Default | In a workspace file |', '|---|---|---|---|', ...rows].join('\n');
}

function workspaceText(workspace, merge) {
  if (workspace === 'never') return 'never';
  if (workspace === 'free') return merge === 'replace' ? 'when trusted' : 'when trusted, adds';
  return merge === 'union' ? 'always, adds' : 'only stricter';
}
