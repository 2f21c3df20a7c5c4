import { parseFrontMatter } from '@lathe/core/host';
import { type DefinitionPlaces, plainText, readDefinitions } from '../definition-files.js';
import { builtInSubagents, type SubagentDefinition } from './subagent-definition.js';

/** The model sees each of them with every request. */
const maxSubagents = 30;

/**
 * Loads the built-in subagents, then the person's own, which may replace them, then those of the workspace and of
 * plugins, which cannot replace any. `problems` names the files that are not used, for people.
 */
export async function loadSubagents(places: DefinitionPlaces) {
  const definitions = new Map(builtInSubagents.map((definition) => [definition.name, definition]));
  const own = new Set<string>();
  const files = { kind: 'agents', extension: /\.md$/, maxDepth: 1 };
  const problems = await readDefinitions(places, files, ({ owner, text }) => {
    const definition = parseSubagent(text);
    const { name } = definition;
    if (owner !== 'person' && definitions.has(name))
      throw new Error(`there is a subagent ${name} already; this one is not used`);
    if (!own.has(name)) definitions.set(name, definition);
    own.add(name);
  });
  const all = [...definitions.values()];
  if (all.length > maxSubagents) problems.push(`Only the first ${maxSubagents} of ${all.length} subagents are used`);
  return { definitions: all.slice(0, maxSubagents), problems };
}

/** Throws an error that says what is missing. */
export function parseSubagent(text: string): SubagentDefinition {
  const parsed = parseFrontMatter(plainText(text));
  if (!parsed) throw new Error('a subagent starts with front matter: name and description between lines of ---');
  const { fields, body } = parsed;
  const name = textField(fields, 'name');
  if (!/^[A-Za-z0-9][\w-]{0,49}$/.test(name)) throw new Error('its name may contain only letters, digits, - and _');
  const description = textField(fields, 'description');
  if (description === '') throw new Error('it has no description');
  const model = textField(fields, 'model');
  const tools = listField(fields, 'tools');
  const withoutTools = listField(fields, 'disallowedTools');
  return {
    name,
    description,
    ...(body.trim() !== '' && { instructions: body.trim() }),
    ...(tools && { tools }),
    ...(withoutTools && { withoutTools }),
    ...(model !== '' && model !== 'inherit' && { model }),
  };
}

type Fields = ReadonlyMap<string, string | readonly string[]>;

function textField(fields: Fields, name: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** `tools: a, b` and a list mean the same; a field without a value is an empty list. */
function listField(fields: Fields, name: string): string[] | undefined {
  const value = fields.get(name);
  if (value === undefined) return undefined;
  const items = typeof value === 'string' ? value.split(',') : value;
  return items.map((item) => item.trim()).filter((item) => item !== '');
}
