import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { attempt } from '../../contract/errors.js';
import { secrecyOf } from '../access/protected-paths.js';
import { type BytePath, fromBytePath, systemPath, toBytePath } from '../byte-path.js';
import { readSmallFile } from '../small-file.js';

/**
 * The user's own excludes file: `core.excludesFile` of git's configuration, or the place git looks in without it. A
 * relative path is seen from the repository. `undefined` when the configuration wants none.
 */
export function userExcludes(environment: NodeJS.ProcessEnv, home = homedir()): string | undefined {
  const configDirectory = join(environment['XDG_CONFIG_HOME'] || join(home, '.config'), 'git');
  const configured = [join(home, '.gitconfig'), join(configDirectory, 'config')]
    .map((file) => ignoreSettings(toBytePath(file), home).excludesFile)
    .find((value) => value !== undefined);
  if (configured === undefined) return join(configDirectory, 'ignore');
  return configured === '' ? undefined : fromBytePath(configured);
}

export interface GitDirectory {
  /** Where git keeps what all work trees of a repository share. */
  common: BytePath;
  /** Otherwise git looks in the parent directory. */
  isRepository: boolean;
}

/** What the `.git` in `directory` (ends in a slash) is or, when it is a file, points to. */
export function gitDirectoryIn(directory: BytePath, onProblem: (path: BytePath, reason: string) => void): GitDirectory {
  const pointer = /^gitdir: (.*)$/m.exec(readSmallFile(`${directory}.git`) ?? '')?.[1]?.trimEnd() || undefined;
  const own = pointer === undefined ? `${directory}.git` : from(directory, pointer);
  const isRepository = existsSync(systemPath(`${own}/HEAD`));
  if (pointer === undefined) return { common: own, isRepository };
  const link = `${own}/commondir`;
  const common = readSmallFile(link, { onProblem: (reason) => onProblem(link, reason) })?.trim();
  return { common: common === undefined ? own : from(`${own}/`, common), isRepository };
}

/** The repository's own settings, as seen from its directory (ends in a slash). */
export function repositorySettings(directory: BytePath, { common }: GitDirectory): IgnoreSettings {
  const { excludesFile, ignoresCase } = ignoreSettings(`${common}/config`, homedir());
  return { excludesFile: excludesFile ? harmless(from(directory, excludesFile)) : undefined, ignoresCase };
}

/**
 * The real path of an excludes file. A repository's configuration may be hostile: it must not make Lathe read a file of
 * secrets, through a symlink either.
 */
function harmless(file: BytePath): BytePath | undefined {
  const path = attempt(() => realpathSync(systemPath(file), 'latin1'));
  return path !== undefined && secrecyOf(fromBytePath(path)) === undefined ? path : undefined;
}

/** A path as seen from a directory, which ends in a slash. */
export function from(directory: BytePath, path: BytePath): BytePath {
  return isAbsolute(path) ? path : directory + path;
}

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
function ignoreSettings(config: BytePath, home: string): IgnoreSettings {
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
