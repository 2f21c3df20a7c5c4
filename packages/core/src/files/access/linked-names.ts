import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isWithin } from '../workspace.js';
import { parentNames } from './protected-names.js';
import { foldName, protectionOf } from './protected-paths.js';

/** How deep symlinks are looked for in protected directories: `.claude/skills/name`. */
const maxDepth = 3;
const maxDirectories = 1_000;

/**
 * What protected names, at the top of these directories or in protected directories there, lead to inside of them through
 * symlinks. Programs obey these files by the protected name. `obeyed`: further names that the agent obeys.
 */
export async function linkedNames(roots: readonly string[], obeyed: readonly string[]): Promise<string[]> {
  const names = new Set(obeyed.map(foldName));
  const isProtected = (path: string) => names.has(foldName(path)) || protectionOf(path) !== undefined;
  const links = await Promise.all(
    roots.map((root) => linksIn({ root, isProtected, directories: maxDirectories }, root)),
  );
  const targets = await Promise.all(links.flat().map((link) => realpath(link).catch(() => undefined)));
  const isInside = (path: string | undefined): path is string =>
    path !== undefined && roots.some((root) => path !== root && isWithin(root, path));
  return [...new Set(targets.filter(isInside))];
}

interface Walk {
  root: string;
  isProtected: (path: string) => boolean;
  /** How many may still be listed. */
  directories: number;
}

/** Protected names that are symlinks, or all of them if the directory itself is beyond a symlink. */
async function linksIn(walk: Walk, directory: string, isBeyond = false, depth = maxDepth): Promise<string[]> {
  if (depth < 0 || walk.directories-- < 0) return [];
  const entries: Dirent[] = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(directory, entry.name);
    const isLink = entry.isSymbolicLink();
    if (!isLink && !isBeyond && !entry.isDirectory()) continue;
    const isProtected = walk.isProtected(path);
    if (isProtected && (isLink || isBeyond)) found.push(path);
    // Git has its own checks, and thousands of files.
    else if ((isProtected && entry.name !== '.git') || parentNames.has(relative(walk.root, path).toLowerCase()))
      found.push(...(await linksIn(walk, path, isBeyond || isLink, depth - 1)));
  }
  return found;
}
