import { isObject, type JsonObject } from './plugin.js';
import type { PluginFiles } from './plugin-files.js';

const maxJsonBytes = 1024 * 1024;

/** An object in a JSON file; `undefined` without the file. */
export function jsonOf(files: PluginFiles, path: string): JsonObject | undefined {
  const file = files.get(path);
  if (!file) return undefined;
  if (file.content.length > maxJsonBytes) throw new Error(`${path} is too large`);
  try {
    const value: unknown = JSON.parse(file.content.toString().replace(/^\ufeff/, ''));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what JSON.parse returns is JSON
    if (isObject(value as JsonObject)) return value as JsonObject;
  } catch (error) {
    throw new Error(`${path} is not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  throw new Error(`${path} must hold one object`);
}
