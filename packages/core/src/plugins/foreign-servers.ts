import { sep } from 'node:path';
import { existing, isObject, type JsonObject, mapStrings, type PluginPlace } from './plugin.js';
import type { PluginFiles } from './plugin-files.js';
import { jsonOf } from './read-json.js';

/**
 * The servers of an extension of Qwen Code (`mcpServers`) or a plugin of Claude Code (there, or in `.mcp.json`), as
 * settings. What grants a server rights is left out.
 */
export function foreignServers(
  files: PluginFiles,
  manifest: JsonObject,
  place: PluginPlace,
  notes: string[],
): Record<string, JsonObject> {
  const { mcpServers } = manifest;
  const named = typeof mcpServers === 'string' ? mcpServers.replace(/^\.\//, '') : undefined;
  const written = [...new Set(['.mcp.json', named ?? '.mcp.json'])].flatMap((path): JsonObject[] =>
    existing(jsonOf(files, path)),
  );
  const sources = [...written.map((file) => file['mcpServers'] ?? file), ...(isObject(mcpServers) ? [mcpServers] : [])];
  const servers: Record<string, JsonObject> = {};
  for (const [name, server] of sources.filter(isObject).flatMap((source) => Object.entries(source))) {
    if (!isObject(server)) continue;
    const { trust, alwaysAllow: _, autoApprove: __, ...rest } = server;
    if (trust === true) notes.push(`The server ${JSON.stringify(name)} asks to be trusted; it is not.`);
    const filled = mapStrings(rest, (text) => fill(text, place));
    if (isObject(filled)) servers[name] = filled;
  }
  return servers;
}

function fill(text: string, { root, data }: PluginPlace): string {
  return text
    .replaceAll(/\$\{(?:CLAUDE_PLUGIN_ROOT|PLUGIN_ROOT|extensionPath|CLAUDE_EXTENSION_ROOT)\}/g, () => root)
    .replaceAll(/\$\{(?:CLAUDE_)?PLUGIN_DATA\}/g, () => data)
    .replaceAll(/\$\{(?:\/|pathSeparator)\}/g, () => sep);
}
