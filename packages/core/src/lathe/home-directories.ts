import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { attempt } from '../contract/errors.js';
import type { LatheHome } from '../files/lathe-home.js';
import type { Settings } from '../settings/keys.js';

export interface HomeOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** The person's home directory; from `env`, or else from their account, when left out. */
  home?: string | undefined;
  /** Where state is kept; `LATHE_HOME` or `~/.lathe` when left out. */
  latheHome?: string | undefined;
}

/**
 * The person's home directory and Lathe's own. Both are absolute: a relative one would make the files of any folder that
 * Lathe is started in count as the person's own.
 */
export function homeDirectories({ env, home, latheHome }: HomeOptions): { userHome: string; latheHome: string } {
  const userHome = home || env['HOME'] || env['USERPROFILE'] || attempt(() => userInfo().homedir);
  if (userHome === undefined) throw new Error('There is no home directory: set HOME to an absolute path.');
  const state = latheHome || env['LATHE_HOME'] || join(userHome, '.lathe');
  if (!isAbsolute(userHome))
    throw new Error(`The home directory must be an absolute path, not "${userHome}": set HOME.`);
  if (!isAbsolute(state)) throw new Error(`LATHE_HOME must be an absolute path, not "${state}".`);
  return { userHome, latheHome: state };
}

/** The folders of files that are the person's own, in all their projects. */
export function personalFolders(parts: { home: LatheHome; userHome: string; settings: Settings }): string[] {
  const { home, userHome, settings } = parts;
  return [home.path, ...(settings.general.readQwenHome ? [join(userHome, '.qwen')] : [])];
}
