import { access, constants, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { isWithin } from '../../files/workspace.js';
import { executableAt } from '../run/trusted-path.js';

/**
 * The PATH a shell may search: absolute directories outside the workspace only. What is judged and what runs must use
 * the same one, so that a bare name never means a file that the workspace brings along.
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
  /** The file behind the name, every link resolved; absent when there is none. */
  file?: string;
  /** The file, or a link on the way to it, lies where the workspace could have put it. */
  isInWorkspace: boolean;
  /** A stand-in of a version manager, which asks the workspace what to run. */
  isShim?: boolean;
}

/** Finds the file that bash would run for a command word without expansions. */
export async function resolveProgram(
  name: string,
  { cwd, path, workspaceRoots }: { cwd: string; path: string; workspaceRoots: readonly string[] },
): Promise<ProgramLocation> {
  // A spelled path may lie on a disk that never answers; the directories of `PATH` are the user's own, and quick to ask.
  const isSpelled = name.includes('/');
  const candidates = isSpelled
    ? [isAbsolute(name) ? name : join(cwd, name)]
    : path.split(delimiter).map((directory) => join(directory, name));
  for (const candidate of candidates) {
    const file = isSpelled ? await patientlyAt(candidate) : executableAt(candidate);
    if (file === undefined) continue;
    const isInWorkspace = workspaceRoots.some((root) => isWithin(root, file) || isWithin(root, candidate));
    return { file, isInWorkspace, ...(basename(dirname(candidate)) === 'shims' && { isShim: true }) };
  }
  return { isInWorkspace: false };
}

async function patientlyAt(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK);
    const real = await realpath(path);
    return (await stat(real)).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}
