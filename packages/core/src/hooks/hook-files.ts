import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { attempt } from '../contract/errors.js';
import { isWithin } from '../files/workspace.js';

/** What a shell or an interpreter is given first, in `sh check` or `node -r x check`. */
const scripts =
  /(?:^|[\s;&|(/])(?:(?:ba|da|k|z)?sh|node|python[\d.]*|ruby|perl|source|\.)\s+(?:-\S+\s+)*["']?([\w-]+)/g;

/**
 * The files of a workspace that a hook command names: who can change them decides what the hook does. A word that
 * looks like a path counts before the file exists. Words are split more finely than a shell would, so that one too many is
 * protected rather than one too few. A directory does not count: hooks check what is in it far more often than they run it.
 */
export function hookFiles(command: string, root: string): string[] {
  const expanded = command.replaceAll(/\$\{?(?:LATHE|CLAUDE|QWEN)_PROJECT_DIR\}?/g, root);
  const words = expanded.split(/[\s;&|()<>"'`$={}]+/).filter((word) => /\w/.test(word));
  const named = [
    ...words.filter((word) => /[./]/.test(word)),
    ...[...expanded.matchAll(scripts)].map(([, name = '']) => name),
  ];
  const within = (place: string, names: readonly string[]) =>
    names.map((name) => resolve(place, name)).filter((path) => path !== root && isWithin(root, path));
  const here = within(root, named).filter((path) => kindOf(path) !== 'directory');
  // The command may enter a directory first.
  const entered = within(root, words).filter((path) => kindOf(path) === 'directory');
  const there = entered.flatMap((place) => within(place, named)).filter((path) => kindOf(path) === 'file');
  return [...new Set([...here, ...there])];
}

function kindOf(path: string): 'file' | 'directory' | 'missing' {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'file';
  } catch {
    return 'missing';
  }
}

const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** The content of these files as hashes; a file that cannot be read has none. */
export function fileHashes(paths: readonly string[]): Record<string, string> {
  return Object.fromEntries(paths.map((path) => [path, attempt(() => hashOf(path)) ?? '']));
}
