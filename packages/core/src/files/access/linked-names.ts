import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isWithin } from '../workspace.js';
import { parentNames } from './protected-names.js';
import { foldName, protectionOf } from './protected-paths.js';

/** How deep symlinks are looked for in protected directories: `.claude/skills/name`. */
const maxDepth = 3;
const maxDirectories = 1_000;
const top = { isBeyond: false, depth: maxDepth };

/**
 * What protected names, at the top of these directories or in protected directories there, lead to inside of them through
 * symlinks. Programs obey these files by the protected name. `obeyed`: further names that the agent obeys.
 */
export async function linkedNames(roots: readonly string[], obeyed: readonly string[]): Promise<string[]> {
  const names = new Set(obeyed.map(foldName));
  const isProtected = (path: string) => names.has(foldName(path)) || protectionOf(path) !== undefined;
  const links = await Promise.all(
    roots.map((root) => linksIn({ root, isProtected, directories: maxDirectories }, root, top)),
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

interface Place {
  /** Whether a symlink is on the way to it. */
  isBeyond: boolean;
  depth: number;
}

/** Protected names in a directory that are symlinks or beyond one. */
async function linksIn(walk: Walk, directory: string, place: Place): Promise<string[]> {
  if (place.depth < 0 || walk.directories-- < 0) return [];
  const entries: Dirent[] = await readdir(directory, { withFileTypes: true }).catch(() => []);
  return (await Promise.all(entries.map((entry) => linksAt(walk, directory, entry, place)))).flat();
}

async function linksAt(walk: Walk, directory: string, entry: Dirent, { isBeyond, depth }: Place): Promise<string[]> {
  const isFar = isBeyond || entry.isSymbolicLink();
  if (!isFar && !entry.isDirectory()) return [];
  const path = join(directory, entry.name);
  const isProtected = walk.isProtected(path);
  if (isProtected && isFar) return [path];
  // Git has its own checks, and thousands of files.
  const isEntered = isProtected ? entry.name !== '.git' : isParent(relative(walk.root, path));
  return isEntered ? linksIn(walk, path, { isBeyond: isFar, depth: depth - 1 }) : [];
}

const isParent = (way: string): boolean => parentNames.has(way.toLowerCase());
