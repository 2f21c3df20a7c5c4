import type { CheckContext } from './check-value.js';
import type { Environment } from './dot-env.js';
import { allSettings, type KnownSetting, settingBySpelling } from './keys.js';
import type { Assignment, LayerName } from './merge-layers.js';
import { type JsonValue, nodeOf } from './parse-jsonc.js';
import { checkSetting, type SettingsProblem } from './settings-file.js';
import type { Shape } from './shape.js';

interface Layer {
  assignments: Assignment[];
  problems: SettingsProblem[];
}

/** Settings from variables such as `LATHE_MODEL`; an empty one counts as not set. */
export function assignmentsFromEnvironment(env: Environment): Layer {
  return collect(
    allSettings.flatMap((setting) => {
      const text = setting.env === undefined ? undefined : env[setting.env];
      if (text === undefined || text === '') return [];
      return [{ setting, value: parse(setting.shape, text), source: setting.env ?? '' }];
    }),
    { layer: 'environment', env: {} },
  );
}

export function assignmentsFromFlags(flags: Readonly<Record<string, JsonValue | undefined>>, env: Environment): Layer {
  return collect(
    Object.entries(flags).flatMap(([key, value]) => {
      const setting = settingBySpelling.get(key);
      return setting === undefined || value === undefined ? [] : [{ setting, value, source: 'command line' }];
    }),
    { layer: 'flags', env },
  );
}

function collect(
  wanted: readonly { setting: KnownSetting; value: JsonValue; source: string }[],
  { layer, env }: { layer: LayerName; env: Environment },
): Layer {
  const problems: SettingsProblem[] = [];
  const assignments = wanted.flatMap(({ setting, value: written, source }) => {
    const context: CheckContext = { env, report: (_, key, message) => problems.push({ source, key, message }) };
    const value = checkSetting(setting, setting.key, nodeOf(written), context);
    return value === undefined ? [] : [{ setting, value, written, layer, source }];
  });
  return { assignments, problems };
}

function parse(shape: Shape, text: string): JsonValue {
  if (shape.is === 'boolean')
    return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : text;
  if (shape.is === 'integer') return /^-?\d+$/.test(text) ? Number(text) : text;
  if (shape.is === 'list') return text.split(',').map((part) => part.trim());
  return text;
}
