import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { type BytePath, toBytePath } from './byte-path.js';
import { readSmallFile } from './small-file.js';

/** The user's own excludes file: `core.excludesFile` of git's configuration, or the place git looks in without it. */
export function userExcludes(environment: NodeJS.ProcessEnv, home = homedir()): string {
  const configDirectory = join(environment['XDG_CONFIG_HOME'] || join(home, '.config'), 'git');
  const configured = [join(home, '.gitconfig'), join(configDirectory, 'config')]
    .map((file) => excludesSetting(readSmallFile(toBytePath(file)) ?? ''))
    .find((value) => value !== undefined);
  if (configured === undefined) return join(configDirectory, 'ignore');
  return resolve(home, configured.replace(/^~(?=\/)/, home));
}

/** `excludesFile` in the `[core]` section; the last one counts. */
function excludesSetting(config: string): string | undefined {
  const core = config.split(/^(?=\s*\[)/m).filter((section) => /^\s*\[core\]/i.test(section));
  const values = core.flatMap((section) => [
    ...section.matchAll(/^\s*excludesfile\s*=\s*"?([^"\n#;]*?)"?\s*(?:[#;].*)?$/gim),
  ]);
  return values.at(-1)?.[1];
}

/** `info/exclude` of the repository at `directory` (ends in a slash), also when its `.git` is a file that points elsewhere. */
export function repositoryExcludes(directory: BytePath, onProblem: (path: BytePath, reason: string) => void): BytePath {
  const pointer = /^gitdir: (.+?)\s*$/m.exec(readSmallFile(`${directory}.git`) ?? '')?.[1];
  if (pointer === undefined) return `${directory}.git/info/exclude`;
  const gitDirectory = pointer.startsWith('/') ? pointer : directory + pointer;
  const link = `${gitDirectory}/commondir`;
  const common = readSmallFile(link, { onProblem: (reason) => onProblem(link, reason) })?.trim();
  const base = common === undefined ? gitDirectory : common.startsWith('/') ? common : `${gitDirectory}/${common}`;
  return `${base}/info/exclude`;
}
