import { access, constants, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { isWithin } from '../files/workspace.js';

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
}

/** Finds the file that bash would run for a command word without expansions. */
export async function resolveProgram(
  name: string,
  { cwd, path, workspaceRoots }: { cwd: string; path: string; workspaceRoots: readonly string[] },
): Promise<ProgramLocation> {
  const candidates = name.includes('/')
    ? [isAbsolute(name) ? name : join(cwd, name)]
    : path.split(delimiter).map((directory) => join(directory, name));
  for (const candidate of candidates) {
    if (!(await isExecutable(candidate))) continue;
    const file = await realpath(candidate);
    const isInWorkspace = workspaceRoots.some((root) => isWithin(root, file) || isWithin(root, candidate));
    return { file, isInWorkspace };
  }
  return { isInWorkspace: false };
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
