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
export async function settlePath({ cwd, path, pattern }: PathUse): Promise<string[]> {
  if (pattern === undefined) return [await climb(path.startsWith('/') ? path : `${cwd}/${path}`)];
  const components = splitPattern(pattern);
  const first = components.findIndex((component) => typeof component !== 'string');
  const fixed = components.slice(0, first).join('/');
  const base = await climb(fixed.startsWith('/') || (fixed === '' && first > 0) ? `${fixed}/` : `${cwd}/${fixed}`);
  return [base, ...(await linksMatching(base, components.slice(first)))];
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

const maxLooks = 2000;

/** Symbolic links that a pattern can match, or pass through. */
async function linksMatching(base: string, components: Component[]): Promise<string[]> {
  const links: string[] = [];
  let [directories, looks] = [[base], 0];
  for (const component of components) {
    const next: string[] = [];
    for (const directory of directories) {
      const names = typeof component === 'string' ? [component] : await namesMatching(directory, component);
      for (const name of names) {
        if (++looks > maxLooks) return [...links, ...directories];
        const path = join(directory, name);
        const info = await lstat(path).catch(() => undefined);
        if (info?.isSymbolicLink()) links.push(path);
        if (info) next.push(path);
      }
    }
    directories = next;
  }
  return links;
}

async function namesMatching(directory: string, component: RegExp): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => component.test(name));
}
