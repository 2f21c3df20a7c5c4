import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isWithin } from '../workspace.js';
import { foldName, protectionOf } from './protected-paths.js';

/** How deep symlinks are looked for in protected directories: `.claude/skills/name`. */
const maxDepth = 3;
const maxEntries = 1_000;

/**
 * What symlinks with protected names, at the top of these directories or in protected directories there, lead to inside of
 * them. Programs obey these files by the protected name. `obeyed`: further names that the agent obeys.
 */
export async function linkedNames(roots: readonly string[], obeyed: readonly string[]): Promise<string[]> {
  const names = new Set(obeyed.map(foldName));
  const isProtected = (path: string) => names.has(foldName(path)) || protectionOf(path) !== undefined;
  const budget = { entries: maxEntries };
  const links = await Promise.all(roots.map((root) => linksIn(root, isProtected, budget)));
  const targets = await Promise.all(links.flat().map((link) => realpath(link).catch(() => undefined)));
  const isInside = (path: string | undefined): path is string =>
    path !== undefined && roots.some((root) => path !== root && isWithin(root, path));
  return [...new Set(targets.filter(isInside))];
}

async function linksIn(
  directory: string,
  isProtected: (path: string) => boolean,
  budget: { entries: number },
  depth = maxDepth,
): Promise<string[]> {
  const entries: Dirent[] = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if ((!entry.isSymbolicLink() && !entry.isDirectory()) || !isProtected(path)) continue;
    if (entry.isSymbolicLink()) found.push(path);
    // Git has its own checks, and thousands of files.
    else if (depth > 0 && entry.name !== '.git' && budget.entries-- > 0)
      found.push(...(await linksIn(path, isProtected, budget, depth - 1)));
  }
  return found;
}
