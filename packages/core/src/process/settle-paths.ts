import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pattern } from './expand-word.js';

/** A path as a command spells it, seen from a directory. */
export interface PathUse {
  cwd: string;
  path: string;
  pattern?: Pattern;
}

/**
 * Absolute paths that say what the kernel will open: `link/..` leads to the parent of the link's target, and a pattern
 * stands for the links it matches besides the directory it is looked up in.
 */
export async function settlePath({ cwd, path, pattern }: PathUse, budget: Budget): Promise<string[]> {
  if (pattern === undefined) return [await climb(path.startsWith('/') ? path : `${cwd}/${path}`)];
  const components = splitPattern(pattern);
  const first = components.findIndex((component) => typeof component !== 'string');
  const fixed = components.slice(0, first).join('/');
  const base = await climb(fixed.startsWith('/') || (fixed === '' && first > 0) ? `${fixed}/` : `${cwd}/${fixed}`);
  return [base, ...(await linksMatching(base, components.slice(first), budget))];
}

/** Resolves `..` as the kernel does: a link before it is followed first. */
async function climb(path: string): Promise<string> {
  let at = '/';
  for (const component of path.split('/')) {
    if (component === '' || component === '.') continue;
    // A missing directory cannot be climbed out of either: the command fails on it.
    at = component === '..' ? join(await realpath(at).catch(() => at), '..') : join(at, component);
  }
  return at;
}

type Component = string | RegExp;

function splitPattern(pattern: Pattern): Component[] {
  const components: Component[] = [];
  let [source, text, isPattern] = ['', '', false];
  const finish = () => {
    components.push(isPattern ? new RegExp(`^${source}$`, 's') : text);
    [source, text, isPattern] = ['', '', false];
  };
  for (const part of pattern) {
    if (typeof part !== 'string') {
      // Brackets match one character at most; any text is close enough, and never too little.
      source += part.glob === '?' ? '.' : '.*';
      isPattern = true;
      continue;
    }
    part.split('/').forEach((piece, index) => {
      if (index > 0) finish();
      source += piece.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
      text += piece;
    });
  }
  finish();
  return components;
}

/** How many more directory entries may be looked at. */
export interface Budget {
  looks: number;
}

/** Symbolic links that a pattern can match, or pass through; all it reached when the budget ends. */
async function linksMatching(base: string, components: Component[], budget: Budget): Promise<string[]> {
  const links: string[] = [];
  let directories = [base];
  for (const [index, component] of components.entries()) {
    const next: string[] = [];
    for (const directory of directories) {
      const entries =
        typeof component === 'string'
          ? await entryNamed(directory, component)
          : await entriesMatching(directory, component);
      budget.looks -= entries.length + 1;
      if (budget.looks < 0) return [...links, ...directories];
      for (const { name, isLink, isLeaf } of entries) {
        if (isLink) links.push(join(directory, name));
        if (!isLeaf && index < components.length - 1) next.push(join(directory, name));
      }
    }
    directories = next;
  }
  return links;
}

interface Entry {
  name: string;
  isLink: boolean;
  isLeaf: boolean;
}

async function entryNamed(directory: string, name: string): Promise<Entry[]> {
  const info = await lstat(join(directory, name)).catch(() => undefined);
  return info ? [{ name, isLink: info.isSymbolicLink(), isLeaf: info.isFile() }] : [];
}

async function entriesMatching(directory: string, component: RegExp): Promise<Entry[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => component.test(name))
    .map((entry) => ({ name: entry.name, isLink: entry.isSymbolicLink(), isLeaf: entry.isFile() }));
}
