import { dirname, isAbsolute, join } from 'node:path';
import { type BytePath, toBytePath } from '../byte-path.js';
import { readSmallFile } from '../small-file.js';

/** A configuration file may include itself, or thousands of others. */
const maxFiles = 20;
/** No path is longer. */
const maxLine = 8192;

/** The settings about ignore files in git's configuration; `undefined` when not set. */
export interface IgnoreSettings {
  /** `core.excludesFile`, with `~` replaced; empty when no file is to be used. */
  excludesFile: BytePath | undefined;
  /** `core.ignoreCase`. */
  ignoresCase: boolean | undefined;
}

/** The settings of a configuration file, and of those that it includes: the last ones count. */
export function ignoreSettings(config: BytePath, home: string): IgnoreSettings {
  const settings: IgnoreSettings = { excludesFile: undefined, ignoresCase: undefined };
  const seen = new Set<BytePath>();
  const atHome = (path: BytePath) => path.replace(/^~(?=\/)/, () => toBytePath(home));
  const read = (file: BytePath) => {
    if (seen.size === maxFiles || seen.has(file)) return;
    seen.add(file);
    for (const { key, value } of settingsIn(readSmallFile(file) ?? '')) {
      if (key === 'core.excludesfile') settings.excludesFile = atHome(value);
      if (key === 'core.ignorecase') settings.ignoresCase = /^(?:true|yes|on|[1-9]\d*)$/i.test(value);
      if (key === 'include.path') read(isAbsolute(atHome(value)) ? atHome(value) : join(dirname(file), value));
    }
  };
  read(config);
  return settings;
}

interface Setting {
  key: string;
  value: string;
}

/** The settings in this text as git reads them: keys in lower case, values without quotes and comments. */
function* settingsIn(text: string): Generator<Setting> {
  let section = '';
  const withoutComments = text.replace(/^[ \t]*[#;].*$/gm, '');
  for (const line of withoutComments.replace(/\\\r?\n/g, '').split('\n')) {
    if (line.length > maxLine) continue;
    const header = /^\s*\[([^\]]*)\]/.exec(line);
    if (header?.[1] !== undefined) section = header[1].toLowerCase();
    const [, name, value] = /^\s*([a-z][\w-]*)\s*=(.*)$/is.exec(line.slice(header?.[0].length)) ?? [];
    if (name !== undefined && value !== undefined)
      yield { key: `${section}.${name.toLowerCase()}`, value: plainValue(value) };
  }
}

function plainValue(value: string): string {
  const beforeComment = /^(?:"(?:\\.|[^"\\])*"|\\.|[^"\\#;])*/.exec(value)?.[0] ?? '';
  return beforeComment.trim().replace(/\\(.)|"/g, (_, escaped: string | undefined) => escaped ?? '');
}
