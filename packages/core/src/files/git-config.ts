import { dirname, isAbsolute, join } from 'node:path';
import { type BytePath, toBytePath } from './byte-path.js';
import { readSmallFile } from './small-file.js';

/** A configuration may include itself, or thousands of others. */
const maxFiles = 20;
/** No path is longer. */
const maxLine = 8192;

/**
 * `core.excludesFile` of a configuration file of git, and of those that it includes, with `~` replaced: the last one
 * counts. Empty when no file is to be used, `undefined` when nothing is said.
 */
export function excludesSetting(config: BytePath, home: string): BytePath | undefined {
  let setting: BytePath | undefined;
  const seen = new Set<BytePath>();
  const atHome = (path: BytePath) => path.replace(/^~(?=\/)/, () => toBytePath(home));
  const read = (file: BytePath) => {
    if (seen.size === maxFiles || seen.has(file)) return;
    seen.add(file);
    for (const { key, value } of settingsIn(readSmallFile(file) ?? '')) {
      if (key === 'core.excludesfile') setting = atHome(value);
      if (key === 'include.path') read(isAbsolute(atHome(value)) ? atHome(value) : join(dirname(file), value));
    }
  };
  read(config);
  return setting;
}

interface Setting {
  key: string;
  value: string;
}

/** What git reads in this text: keys in small letters, values without quotes and comments. */
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
