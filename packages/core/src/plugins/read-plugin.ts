import { sep } from 'node:path';
import { thrownText } from '../contract/errors.js';
import type { JsonValue } from '../settings/parse-jsonc.js';
import { visibleText } from '../text/visible-text.js';
import { manifestProblem, portableServers, unknownFields } from './agent-plugins.js';
import type { HookGroup, JsonObject, Plugin, PluginPlace, PluginReading } from './plugin.js';
import { isObject, jsonOf } from './plugin.js';
import type { PluginFiles } from './plugin-files.js';

/** The folder of what only Lathe reads, beside the portable parts of a plugin. */
export const ownFolder = 'dev.lathe';

/** Reads a plugin of any format we know. Throws when the files are none, or the manifest is wrong. */
export function readPlugin(files: PluginFiles, place: PluginPlace): Plugin {
  const reading = { files, place, notes: [] };
  const portable = jsonOf(files, 'plugin.json');
  const claude = jsonOf(files, '.claude-plugin/plugin.json');
  // A manifest for Claude Code may also be in the root, without the address of a schema.
  if (portable && ('$schema' in portable || !claude)) return readPortable(reading, portable);
  const qwen = jsonOf(files, 'qwen-extension.json') ?? jsonOf(files, 'gemini-extension.json');
  if (qwen) return readForeign(reading, qwen, 'qwen');
  if (claude) return readForeign(reading, claude, 'claude');
  const hint = files.has('.claude-plugin/marketplace.json')
    ? '. It is a marketplace: name one of its plugins with URL#BRANCH:FOLDER'
    : '';
  throw new Error(`it has no plugin.json, .claude-plugin/plugin.json or qwen-extension.json${hint}`);
}

function readPortable(reading: PluginReading, manifest: JsonObject): Plugin {
  const problem = manifestProblem(manifest);
  if (problem !== undefined) throw new Error(`plugin.json: ${problem}`);
  const { files, notes } = reading;
  notes.push(...unknownFields(manifest));
  return {
    ...identity(manifest, 'agent-plugins'),
    skills: skillsOf(files, ['skills']),
    ...folders(files, `${ownFolder}/`),
    servers: orNote(notes, () => portableServers(reading)) ?? {},
    hooks: hooksOf(reading, [`${ownFolder}/hooks/hooks.json`]),
    notes,
  };
}

/** Extensions of Qwen Code and Gemini CLI, and plugins of Claude Code: the parts that fit. */
function readForeign(reading: PluginReading, manifest: JsonObject, format: 'qwen' | 'claude'): Plugin {
  const { files, notes } = reading;
  const own = identity(manifest, format);
  // It becomes a folder and the first part of the names of skills and commands.
  if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(own.name) || /\.\.|\.$/.test(own.name))
    throw new Error('its name may have only letters, digits, ., - and _');
  // Beside other plugins, whose programs would find their packages in it.
  if (/^node_modules$/i.test(own.name)) throw new Error(`${own.name} cannot be the name of a plugin`);
  const pathIn = (key: string) => {
    const value = manifest[key];
    return typeof value === 'string' ? [value.replace(/^\.\//, '').replace(/\/+$/, '')] : [];
  };
  for (const key of ['excludeTools', 'settings', 'lspServers', 'outputStyles', 'channels'])
    if (manifest[key] !== undefined) notes.push(`"${key}" is not supported.`);
  for (const key of ['commands', 'agents'])
    if (manifest[key] !== undefined) notes.push(`"${key}" is not supported: only the folder ${key}/ is read.`);
  for (const key of ['skills', 'hooks', 'mcpServers'])
    for (const path of pathIn(key))
      if (![...files.keys()].some((file) => `${file}/`.startsWith(`${path}/`)))
        notes.push(`"${key}" names ${JSON.stringify(path)}, which the plugin does not have.`);
  const { hooks, mcpServers } = manifest;
  return {
    ...own,
    skills: [
      ...skillsOf(files, ['skills', ...pathIn('skills')]),
      ...(format === 'qwen' ? contextSkill(reading, pathIn('contextFileName')[0] ?? 'QWEN.md', own) : []),
    ],
    ...folders(files, ''),
    servers: foreignServers(reading, ['.mcp.json', ...pathIn('mcpServers')], mcpServers),
    hooks: hooksOf(reading, ['hooks/hooks.json', ...pathIn('hooks')], hooks),
    notes,
  };
}

type Identity = Pick<Plugin, 'name' | 'format' | 'version' | 'description'>;

function identity(manifest: JsonObject, format: Plugin['format']): Identity {
  const text = (key: string) => {
    const value = manifest[key];
    const chosen = isObject(value) ? value['en'] : value;
    return typeof chosen === 'string' ? visibleText(chosen).slice(0, 1_000) : '';
  };
  return { name: text('name'), format, version: text('version'), description: text('description') };
}

/** Each folder that directly holds a SKILL.md; folders inside it belong to that skill. */
function skillsOf(files: PluginFiles, roots: readonly string[]): Plugin['skills'] {
  return [...files].flatMap(([path, { content }]) => {
    const [, root = '', name] = /^(.+)\/([^/]+)\/SKILL\.md$/.exec(path) ?? [];
    return name !== undefined && roots.includes(root) ? [{ folder: `${root}/${name}`, text: content.toString() }] : [];
  });
}

/** The text that an extension adds to every prompt there is loaded on demand here, as a skill. */
function contextSkill(
  { files, notes }: PluginReading,
  path: string,
  { name, description }: Identity,
): Plugin['skills'] {
  const text = files.get(path)?.content.toString();
  if (text === undefined) return [];
  notes.push(`${path} is offered as the skill "context", and not part of every prompt.`);
  const about = `Instructions of the extension ${name}. ${description}`.replaceAll(/\s+/g, ' ').slice(0, 900);
  return [{ folder: '', text: `---\nname: context\ndescription: ${JSON.stringify(about)}\n---\n${text}` }];
}

function folders(files: PluginFiles, prefix: string): Pick<Plugin, 'commands' | 'agents' | 'tools'> {
  const has = (name: string) => [...files.keys()].some((path) => path.startsWith(`${prefix}${name}/`));
  return {
    ...(has('commands') && { commands: `${prefix}commands` }),
    ...(has('agents') && { agents: `${prefix}agents` }),
    // Files of this name in the formats of others are not for us.
    ...(prefix !== '' && has('tools') && { tools: `${prefix}tools` }),
  };
}

/** As settings, from files and the manifest itself. What would grant a server rights is left out. */
function foreignServers(reading: PluginReading, paths: readonly string[], inline?: JsonValue): Plugin['servers'] {
  const servers: Record<string, JsonObject> = Object.create(null);
  for (const written of objectsIn(reading, paths, inline)) {
    const named = written['mcpServers'] ?? written;
    for (const [name, server] of Object.entries(isObject(named) ? named : {})) {
      if (!isObject(server)) continue;
      const { trust, alwaysAllow: _, autoApprove: __, ...rest } = server;
      if (trust === true) reading.notes.push(`The server ${JSON.stringify(name)} asks to be trusted; it is not.`);
      servers[name] = JSON.parse(JSON.stringify(rest), (_key, value: unknown) =>
        typeof value === 'string' ? fillPlace(value, reading.place) : value,
      );
    }
  }
  return servers;
}

/** `{ hooks: { Event: [{ matcher, hooks: [{ type: 'command', command }] }] } }`, as in settings. */
function hooksOf(reading: PluginReading, paths: readonly string[], inline?: JsonValue): Plugin['hooks'] {
  const hooks: Record<string, HookGroup[]> = Object.create(null);
  for (const written of objectsIn(reading, paths, inline)) {
    const events = isObject(written['hooks']) ? written['hooks'] : written;
    for (const [event, groups] of Object.entries(events)) {
      if (!Array.isArray(groups)) continue;
      const commands = groups.filter(isObject).map((group: JsonObject) => commandsOnly(reading, group, event));
      hooks[event] = [...(hooks[event] ?? []), ...commands];
    }
  }
  return hooks;
}

function commandsOnly({ place, notes }: PluginReading, group: JsonObject, event: string): HookGroup {
  const all = Array.isArray(group['hooks']) ? group['hooks'].filter(isObject) : [];
  const hooks = all.flatMap(({ type = 'command', command, timeout }) => {
    if (type !== 'command' || typeof command !== 'string') return [];
    const time = typeof timeout === 'number' && { timeout: Math.max(1, Math.round(timeout)) };
    return [{ command: fillPlace(command, place), ...time }];
  });
  if (hooks.length < all.length) notes.push(`A ${event} hook that is not a command is not supported.`);
  const { matcher } = group;
  return { ...(typeof matcher === 'string' && matcher.trim() !== '' && { matcher }), hooks };
}

/** The objects in those of these files that are there, and the one that the manifest holds. */
function objectsIn({ files, notes }: PluginReading, paths: readonly string[], inline?: JsonValue): JsonObject[] {
  const written = [...new Set(paths)].flatMap((path): JsonObject[] => {
    const object = orNote(notes, () => jsonOf(files, path));
    return object ? [object] : [];
  });
  return isObject(inline) ? [...written, inline] : written;
}

/** Fills in the names that other agents have for the folders of a plugin. */
function fillPlace(text: string, { root, data }: PluginPlace): string {
  return text
    .replaceAll(/\$\{(?:(?:CLAUDE_)?PLUGIN_ROOT|extensionPath)\}|\$CLAUDE_PLUGIN_ROOT\b/g, () => root)
    .replaceAll(/\$\{(?:CLAUDE_)?PLUGIN_DATA\}/g, () => data)
    .replaceAll(/\$\{(?:\/|pathSeparator)\}/g, () => sep);
}

function orNote<T>(notes: string[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    notes.push(thrownText(error));
    return undefined;
  }
}
