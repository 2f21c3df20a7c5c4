import { isUtf8 } from 'node:buffer';
import { parseFrontMatter } from '../text/front-matter.js';
import { diffLines } from '../text/line-diff.js';
import { formatDiff, hunksOf, splitKeepingBreaks } from '../text/unified-diff.js';
import { visibleText } from '../text/visible-text.js';
import type { Plugin } from './plugin.js';
import type { PluginFile, PluginFiles } from './plugin-files.js';

const formatNames: Record<Plugin['format'], string> = {
  'agent-plugins': 'Agent Plugins 1.0',
  qwen: 'extension for Qwen Code',
  claude: 'plugin for Claude Code',
};

/** What a person sees before they agree to a plugin, line by line. */
export function describePlugin(plugin: Plugin, files: PluginFiles): string[] {
  const { name, version, description, format, skills, servers, hooks, notes } = plugin;
  const bytes = [...files.values()].reduce((sum, { content }) => sum + content.length, 0);
  const programs = [...files].flatMap(([path, { isExecutable }]) => (isExecutable ? [path] : []));
  const below = (kind: string, folder: string | undefined) =>
    [...files.keys()].flatMap((path) =>
      folder !== undefined && path.startsWith(`${folder}/`) ? [`${kind}  ${path}`] : [],
    );
  const lines = [
    `${name}${version === '' ? '' : ` ${version}`} (${formatNames[format]}, ${files.size} files, ${Math.ceil(bytes / 1024)} KB)`,
    ...(description === '' ? [] : [description]),
    ...skills.map(({ folder, text }) => `skill    ${folder || name}: ${skillLine(text)}`),
    ...below('command', plugin.commands),
    ...below('subagent', plugin.agents),
    ...Object.entries(servers).map(([server, settings]) => `MCP server  ${server}: ${serverLine(settings)}`),
    ...Object.entries(hooks).flatMap(([event, groups]) =>
      groups.flatMap((group) => group.hooks.map(({ command }) => `hook     ${event}: ${command}`)),
    ),
    ...below('tool (runs inside Lathe)', plugin.tools),
    ...(programs.length > 0 ? [`programs  ${programs.join(', ')}`] : []),
    ...notes.map((note) => `note     ${note}`),
  ];
  // A line break in a text must not look like a line of this list.
  return lines.map((line) => visibleText(line.replaceAll(/[\r\n\u2028\u2029]+/g, '⏎')));
}

function skillLine(text: string): string {
  const value = parseFrontMatter(text)?.fields.get('description');
  return typeof value === 'string' ? value.slice(0, 200) : '(no description, so it is not used)';
}

/** With its other settings, such as variables and headers, which may name keys of the person. */
function serverLine({ command, args = [], url, httpUrl, ...others }: Plugin['servers'][string]): string {
  const words = [command, ...(Array.isArray(args) ? args : [args]), httpUrl, url].filter((word) => word !== undefined);
  const rest = Object.entries(others).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return [...words.map(String), ...rest].join(' ');
}

const maxShownBytes = 100_000;

/** What an update changes: a unified diff of each text, and one line for anything else. */
export async function describeUpdate(before: PluginFiles, after: PluginFiles): Promise<string[]> {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  const changes = await Promise.all(paths.map((path) => describeChange(path, before.get(path), after.get(path))));
  return changes.flat();
}

async function describeChange(path: string, old?: PluginFile, now?: PluginFile): Promise<string[]> {
  if (old && now?.isExecutable === old.isExecutable && now.content.equals(old.content)) return [];
  const change = old ? (now ? 'changed' : 'removed') : 'added';
  const title = `${change}${now?.isExecutable ? ' (a program)' : ''}: ${visibleText(path)}`;
  const [oldText, newText] = [textOf(old?.content), textOf(now?.content)];
  if (oldText === undefined || newText === undefined) return [title + notShown(now)];
  const [oldLines, newLines] = [splitKeepingBreaks(oldText), splitKeepingBreaks(newText)];
  const hunks = hunksOf(oldLines, newLines, await diffLines(oldLines, newLines));
  return [title, formatDiff(hunks, { oldName: old ? path : null, newName: path }).trimEnd()];
}

function notShown(file: PluginFile | undefined): string {
  return file ? ` (${file.content.length} bytes, not shown: binary or too long)` : '';
}

/** `undefined` for what is not worth showing as text. */
function textOf(content: Buffer = Buffer.alloc(0)): string | undefined {
  return content.length > maxShownBytes || content.includes(0) || !isUtf8(content) ? undefined : content.toString();
}
