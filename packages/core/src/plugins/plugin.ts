import type { JsonValue } from '../settings/parse-jsonc.js';
import { parseJson } from '../text/parse-json.js';
import type { PluginFiles } from './plugin-files.js';

export type JsonObject = { readonly [key: string]: JsonValue };

/** Commands that run when an event happens. */
export type HookGroup = { matcher?: string; hooks: { command: string; timeout?: number }[] };

/** What a plugin brings, read from its files. Nothing of it has run. */
export interface Plugin {
  name: string;
  format: 'agent-plugins' | 'qwen' | 'claude';
  version: string;
  description: string;
  /** The folder of each skill below the root, and its SKILL.md. */
  skills: readonly { folder: string; text: string }[];
  /** Folders below the root, if they have files. */
  commands?: string;
  agents?: string;
  tools?: string;
  /** MCP servers by name, as in the settings. */
  servers: Readonly<Record<string, JsonObject>>;
  /** Hooks by event, as in the settings. */
  hooks: Readonly<Record<string, readonly HookGroup[]>>;
  /** What of it is not used, and why, for people. */
  notes: readonly string[];
}

/** Where a plugin lies, for the values that name it. */
export interface PluginPlace {
  root: string;
  /** Where its servers may keep files. It survives updates. */
  data: string;
}

/** A plugin while it is read. */
export interface PluginReading {
  files: PluginFiles;
  place: PluginPlace;
  /** As in `Plugin`. */
  notes: string[];
}

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const maxJsonBytes = 1024 * 1024;

/** An object in a JSON file; `undefined` without the file. */
export function jsonOf(files: PluginFiles, path: string): JsonObject | undefined {
  const file = files.get(path);
  if (!file) return undefined;
  if (file.content.length > maxJsonBytes) throw new Error(`${path} is too large`);
  const parsed = parseJson(file.content.toString().replace(/^\ufeff/, ''));
  if (!parsed.ok) throw new Error(`${path} is not JSON: ${parsed.problem}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was parsed is JSON
  const value = parsed.value as JsonValue;
  if (!isObject(value)) throw new Error(`${path} must hold one object`);
  return value;
}
