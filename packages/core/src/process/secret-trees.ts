import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { secrecyOf } from '../files/protected-paths.js';

/**
 * A file with keys or credentials that a search through this directory would read; `undefined` when there is none. Only
 * names that start like those of secrets are followed, two levels down: where programs keep them.
 */
export async function secretBelow(directory: string): Promise<string | undefined> {
  // What is named itself is judged by its own path.
  if (secrecyOf(directory) !== undefined) return undefined;
  return findSecret(directory, 2);
}

async function findSecret(directory: string, levels: number): Promise<string | undefined> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (secrecyOf(path) !== undefined) return path;
    if (levels === 0 || !entry.isDirectory() || !/^[._]/.test(entry.name) || entry.name === '.git') continue;
    const found = await findSecret(path, levels - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
