import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { isWithin } from '../../files/workspace.js';

export interface TrustedPathOptions {
  /** Directories whose programs are never used: the workspace. */
  outside: readonly string[];
  /** The value of `PATH`, searched after the system's own directories. */
  path?: string;
}

/** The real, absolute path of a helper program outside the workspace; `undefined` if there is none. */
export function trustedPath(program: string, { outside, path = '' }: TrustedPathOptions): string | undefined {
  const directories = [...systemDirectories, ...path.split(delimiter).filter((entry) => isAbsolute(entry))];
  for (const directory of directories) {
    const real = executableAt(join(directory, program));
    if (real === undefined) continue;
    if (!outside.some((root) => isWithin(root, real) || isWithin(root, directory))) return real;
  }
  return undefined;
}

const systemDirectories = [
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
  '/usr/local/bin',
  '/opt/homebrew/bin',
  '/run/current-system/sw/bin',
];

/** The real path of a file, if it is executable. */
export function executableAt(path: string): string | undefined {
  try {
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
    accessSync(path, constants.X_OK);
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
