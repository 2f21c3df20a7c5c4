import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { attempt } from '../../contract/errors.js';
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
  return attempt(() => {
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
    accessSync(path, constants.X_OK);
    return realpathSync.native(path);
  });
}

/**
 * The PATH that a shell may search: only absolute directories outside the workspace. Analysis and execution must use the
 * same one, so that a program name never means a file in the workspace.
 */
export async function sanitizePath(path: string, workspaceRoots: readonly string[]): Promise<string> {
  const directories = await Promise.all(
    path.split(delimiter).map(async (directory) => {
      if (!isAbsolute(directory)) return undefined;
      const real = await realpath(directory).catch(() => undefined);
      if (real === undefined) return undefined;
      return workspaceRoots.some((root) => isWithin(root, real)) ? undefined : directory;
    }),
  );
  return [...new Set(directories.filter((directory) => directory !== undefined))].join(delimiter);
}

/** Where a program name leads. */
export interface ProgramLocation {
  /** The real path of the file; absent if there is none. */
  file?: string;
  /** The file, or a symlink to it, is in the workspace. */
  isInWorkspace: boolean;
  /** A shim of a version manager, which lets the workspace choose the program. */
  isShim?: boolean;
}

/** Finds the file that bash would run for a command word without expansions. */
export async function resolveProgram(
  name: string,
  { cwd, path, workspaceRoots }: { cwd: string; path: string; workspaceRoots: readonly string[] },
): Promise<ProgramLocation> {
  // A path in the command may be on a disk that never answers. The directories of `PATH` are the user's own, and fast.
  const isPath = name.includes('/');
  const candidates = isPath
    ? [isAbsolute(name) ? name : join(cwd, name)]
    : path.split(delimiter).map((directory) => join(directory, name));
  for (const candidate of candidates) {
    const file = isPath ? await executableAtPath(candidate) : executableAt(candidate);
    if (file === undefined) continue;
    const isInWorkspace = workspaceRoots.some((root) => isWithin(root, file) || isWithin(root, candidate));
    return { file, isInWorkspace, ...(basename(dirname(candidate)) === 'shims' && { isShim: true }) };
  }
  return { isInWorkspace: false };
}

async function executableAtPath(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK);
    const real = await realpath(path);
    return (await stat(real)).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}
