import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ToolError } from '../errors.js';
import { protectionOf } from './protected-paths.js';

/** Where a path really leads, and what that means for a call that wants to touch it. */
export interface Location {
  /** Absolute, every symbolic link resolved; for a file that does not exist yet, through its nearest existing parent. */
  path: string;
  /** Inside one of the workspace's directories. */
  inside: boolean;
  /** Why this path is guarded, when it is: settings, hooks, start-up files … */
  guarded?: string;
}

/**
 * The directories an agent works in. String checks here are for questions and messages; what is read or written is
 * verified again on the open descriptor.
 */
export class Workspace {
  /** Real paths, the first one being the directory the agent was started in. */
  readonly roots: readonly [string, ...string[]];

  private constructor(roots: readonly [string, ...string[]]) {
    this.roots = roots;
  }

  static async open(directory: string, extra: readonly string[] = []): Promise<Workspace> {
    const first = await realpath(directory);
    const others = await Promise.all(extra.map((path) => realpath(resolve(first, path))));
    return new Workspace([first, ...others]);
  }

  get root(): string {
    return this.roots[0];
  }

  async locate(path: string): Promise<Location> {
    const real = await realPathOf(resolve(this.root, path));
    const guarded = protectionOf(real);
    return { path: real, inside: this.contains(real), ...(guarded !== undefined && { guarded }) };
  }

  /** Whether a real path lies in one of the roots, compared by whole path components. */
  contains(realPath: string): boolean {
    return this.roots.some((root) => isWithin(root, realPath));
  }

  /** The path as people read it: relative to the workspace when inside. */
  display(path: string): string {
    const root = this.roots.find((candidate) => isWithin(candidate, path));
    return root === undefined ? path : relative(root, path) || '.';
  }
}

export function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

const maxLinks = 40;

/** `realpath` that also answers for paths whose last components do not exist. A dangling link is followed to its target. */
async function realPathOf(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw unresolvable(path, error);
  }
  if (links > maxLinks) throw unresolvable(path, new Error('too many symbolic links'));
  const info = await lstat(path).catch(() => undefined);
  if (info?.isSymbolicLink()) return realPathOf(resolve(dirname(path), await readlink(path)), links + 1);
  const parent = dirname(path);
  return parent === path ? path : join(await realPathOf(parent, links), basename(path));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** A path that cannot be resolved cannot be judged, so it is refused rather than taken at its word. */
function unresolvable(path: string, cause: unknown): ToolError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ToolError('read_content_failure', `Cannot resolve ${path}: ${reason}`, { cause });
}
