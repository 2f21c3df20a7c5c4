import { settingBySpelling } from './keys.js';
import type { JsonValue } from './parse-jsonc.js';
import { redact, type Shape, secret } from './shape.js';

/**
 * A setting as written in a file, for a screen or a report: references such as `$TOKEN` stay, secrets are hidden. `key`
 * is that of an origin or of an ignored value: `model.apiKey`, `mcpServers.github`.
 */
export function showSetting(key: string, written: JsonValue): JsonValue {
  return redact(shapeAt(key), written) ?? null;
}

/** The shape of a setting; an unknown one is treated as a secret. */
function shapeAt(key: string): Shape {
  const setting = settingBySpelling.get(key);
  if (setting !== undefined) return setting.shape;
  const group = settingBySpelling.get(key.split('.')[0] ?? '');
  return group?.shape.is === 'map' ? group.shape.value : secret;
}
