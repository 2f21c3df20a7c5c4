import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isWithin } from '../files/workspace.js';

/**
 * The files of a workspace that a hook command names, whether they exist or not: whoever may change them decides what the
 * hook does. Words are split more finely than a shell would, so that one too many is protected rather than one too few.
 */
export function hookFiles(command: string, root: string): string[] {
  const expanded = command.replaceAll(/\$\{?(?:LATHE|CLAUDE|QWEN)_PROJECT_DIR\}?/g, root);
  const words = expanded.split(/[\s;&|()<>"'`$={}]+/).filter((word) => /[./]/.test(word) && /\w/.test(word));
  const paths = words.map((word) => resolve(root, word)).filter((path) => path !== root && isWithin(root, path));
  return [...new Set(paths)];
}

/** The content of these files as hashes; a file that cannot be read has none. */
export function fileHashes(paths: readonly string[]): Record<string, string> {
  return Object.fromEntries(paths.map((path) => [path, hashOf(path)]));
}

function hashOf(path: string): string {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return '';
  }
}
