import { sep } from 'node:path';
import { existing, isObject, type JsonObject, jsonOf, type PluginPlace } from './plugin.js';
import type { PluginFiles } from './plugin-files.js';

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
  const servers: Record<string, JsonObject> = Object.create(null);
  for (const [name, server] of sources.filter(isObject).flatMap((source) => Object.entries(source))) {
    if (!isObject(server)) continue;
    const { trust, alwaysAllow: _, autoApprove: __, ...rest } = server;
    if (trust === true) notes.push(`The server ${JSON.stringify(name)} asks to be trusted; it is not.`);
    servers[name] = JSON.parse(JSON.stringify(rest), (_key, value: unknown) =>
      typeof value === 'string' ? fillPlace(value, place) : value,
    );
  }
  return servers;
}

/** Fills in the names that other agents have for the folders of a plugin. */
export function fillPlace(text: string, { root, data }: PluginPlace): string {
  return text
    .replaceAll(/\$\{(?:(?:CLAUDE_)?PLUGIN_ROOT|extensionPath)\}|\$CLAUDE_PLUGIN_ROOT\b/g, () => root)
    .replaceAll(/\$\{(?:CLAUDE_)?PLUGIN_DATA\}/g, () => data)
    .replaceAll(/\$\{(?:\/|pathSeparator)\}/g, () => sep);
}
