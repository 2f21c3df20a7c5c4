/** The schemas of Agent Plugins 1.0.0 for `plugin.json` and `mcp.json`, restated from the specification. */

export const pluginSchemaId = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json';
export const mcpSchemaId = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json';

const text = { type: 'string' } as const;
const texts = { type: 'object', additionalProperties: text } as const;
const closed = (properties: object, required: readonly string[]) =>
  ({ type: 'object', properties, required, additionalProperties: false }) as const;

export const pluginSchema = closed(
  {
    $schema: { const: pluginSchemaId },
    name: { ...text, minLength: 1, maxLength: 64, pattern: '^(?!.*(--|\\.\\.))[a-z0-9]([a-z0-9.-]*[a-z0-9])?$' },
    ...Object.fromEntries(
      ['version', 'description', 'homepage', 'repository', 'license'].map((field) => [field, text]),
    ),
    author: closed({ name: text, email: text, url: text }, []),
    keywords: { type: 'array', items: text },
    extensions: { type: 'object', additionalProperties: { type: 'object' } },
  },
  ['$schema', 'name'],
);

const remote = (type: string) =>
  closed({ type: { const: type }, url: { ...text, minLength: 1 }, headers: texts }, ['type', 'url']);

const program = closed(
  {
    type: { const: 'stdio' },
    command: { ...text, minLength: 1 },
    args: { type: 'array', items: text },
    env: { ...texts, propertyNames: { not: { enum: ['PLUGIN_ROOT', 'PLUGIN_DATA'] } } },
    cwd: { ...text, pattern: '^(\\./|\\$\\{PLUGIN_ROOT\\}(/|$)|\\$\\{PLUGIN_DATA\\}(/|$))' },
  },
  ['type', 'command'],
);

export const serverSchema = { oneOf: [program, remote('streamable-http'), remote('sse')] } as const;
