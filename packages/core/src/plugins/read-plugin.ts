import { visibleText } from '../text/visible-text.js';
import { manifestProblem, portableServers, unknownFields } from './agent-plugins.js';
import { fillPlace, foreignServers } from './foreign-servers.js';
import {
  existing,
  type HookGroup,
  isObject,
  type JsonObject,
  jsonOf,
  type Plugin,
  type PluginPlace,
} from './plugin.js';
import type { PluginFiles } from './plugin-files.js';

/** The folder of what only Lathe reads, beside the portable parts of a plugin. */
export const ownFolder = 'dev.lathe';

/** Reads a plugin of any format we know. Throws when the files are none, or the manifest is wrong. */
export function readPlugin(files: PluginFiles, place: PluginPlace): Plugin {
  const portable = jsonOf(files, 'plugin.json');
  const claude = jsonOf(files, '.claude-plugin/plugin.json');
  // A manifest for Claude Code may also be in the root, without the address of a schema.
  if (portable && ('$schema' in portable || !claude)) return readPortable(files, portable, place);
  const qwen = jsonOf(files, 'qwen-extension.json') ?? jsonOf(files, 'gemini-extension.json');
  if (qwen) return readForeign(files, qwen, place, 'qwen');
  if (claude) return readForeign(files, claude, place, 'claude');
  const hint = files.has('.claude-plugin/marketplace.json')
    ? '. It is a marketplace: name one of its plugins with URL#BRANCH:FOLDER'
    : '';
  throw new Error(`it has no plugin.json, .claude-plugin/plugin.json or qwen-extension.json${hint}`);
}

function readPortable(files: PluginFiles, manifest: JsonObject, place: PluginPlace): Plugin {
  const problem = manifestProblem(manifest);
  if (problem !== undefined) throw new Error(`plugin.json: ${problem}`);
  const notes = unknownFields(manifest);
  const servers = orNote(notes, () => portableServers(files, place));
  notes.push(...(servers?.notes ?? []));
  return {
    ...identity(manifest, 'agent-plugins'),
    skills: skillsOf(files, ['skills']),
    ...folders(files, `${ownFolder}/`),
    servers: servers?.servers ?? {},
    hooks: hooksOf(files, [`${ownFolder}/hooks/hooks.json`], place, notes),
    notes,
  };
}

/** Extensions of Qwen Code and Gemini CLI, and plugins of Claude Code: the parts that fit. */
function readForeign(files: PluginFiles, manifest: JsonObject, place: PluginPlace, format: 'qwen' | 'claude'): Plugin {
  const own = identity(manifest, format);
  const problem = nameProblem(own.name);
  if (problem !== undefined) throw new Error(problem);
  const notes: string[] = [];
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
  const { hooks } = manifest;
  return {
    ...own,
    skills: [
      ...skillsOf(files, ['skills', ...pathIn('skills')]),
      ...(format === 'qwen' ? contextSkill(files, pathIn('contextFileName')[0] ?? 'QWEN.md', own, notes) : []),
    ],
    ...folders(files, ''),
    servers: orNote(notes, () => foreignServers(files, manifest, place, notes)) ?? {},
    hooks: hooksOf(files, ['hooks/hooks.json', ...pathIn('hooks')], place, notes, isObject(hooks) ? hooks : undefined),
    notes,
  };
}

function identity(manifest: JsonObject, format: Plugin['format']) {
  const text = (key: string) => {
    const value = manifest[key];
    const chosen = isObject(value) ? value['en'] : value;
    return typeof chosen === 'string' ? visibleText(chosen).slice(0, 1_000) : '';
  };
  return { name: text('name'), format, version: text('version'), description: text('description') };
}

/** The name becomes a folder and the first part of the names of skills and commands. */
function nameProblem(name: string): string | undefined {
  const isPlain = /^[A-Za-z0-9][\w.-]{0,63}$/.test(name) && !name.includes('..') && !name.endsWith('.');
  return isPlain ? undefined : 'its name may have only letters, digits, ., - and _';
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
  files: PluginFiles,
  path: string,
  { name, description }: Pick<Plugin, 'name' | 'description'>,
  notes: string[],
): Plugin['skills'] {
  const text = files.get(path)?.content.toString();
  if (text === undefined) return [];
  notes.push(`${path} is offered as the skill "context", and not part of every prompt.`);
  const about = JSON.stringify(
    `Instructions of the extension ${name}. ${description}`.replaceAll(/\s+/g, ' ').slice(0, 900),
  );
  return [{ folder: '', text: `---\nname: context\ndescription: ${about}\n---\n${text}` }];
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

/** `{ hooks: { Event: [{ matcher, hooks: [{ type: 'command', command }] }] } }`, as in settings. */
function hooksOf(
  files: PluginFiles,
  paths: readonly string[],
  place: PluginPlace,
  notes: string[],
  inline?: JsonObject,
): Plugin['hooks'] {
  const hooks: Record<string, HookGroup[]> = Object.create(null);
  const written = [...new Set(paths)].flatMap((path) => existing(orNote(notes, () => jsonOf(files, path))));
  for (const one of [...written, ...(inline ? [inline] : [])]) {
    const events = isObject(one['hooks']) ? one['hooks'] : one;
    for (const [event, groups] of Object.entries(events)) {
      if (!Array.isArray(groups)) continue;
      const commands = groups.filter(isObject).map((group: JsonObject) => commandsOnly(group, event, place, notes));
      hooks[event] = [...(hooks[event] ?? []), ...commands];
    }
  }
  return hooks;
}

function commandsOnly(group: JsonObject, event: string, place: PluginPlace, notes: string[]): HookGroup {
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

function orNote<T>(notes: string[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    notes.push(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
