import { lstatSync, readdirSync } from 'node:fs';
import { Yielder } from '../../async/yielder.js';
import { attempt } from '../../contract/errors.js';
import { asFolder, type BytePath, fromBytePath, splitPath, systemPath } from '../byte-path.js';
import { codeOf } from '../fs-error.js';
import { directoryEntries } from '../search/directory-entries.js';
import { secretNames } from './protected-names.js';
import { secrecyOf, sensitivityOf } from './protected-paths.js';

/** Flags that keep ripgrep from reading secrets that have their usual names. */
export const withoutSecrets = secretNames.map((name) => `--iglob=!${name.startsWith('/') ? name : `**/${name}`}`);

/** Whether a file holds keys or credentials, in whatever spelling of its name. */
export function isSecret(path: BytePath): boolean {
  const name = fromBytePath(path);
  return secrecyOf(name) !== undefined || sensitivityOf(name) !== undefined;
}

/**
 * Secrets right below a directory that have their usual names, directories with a slash at the end. Finding the others
 * would take as long as a search.
 */
export async function secretsIn(directory: BytePath, signal?: AbortSignal): Promise<BytePath[]> {
  const paths = secretNames.filter((name) => !name.startsWith('/')).map((name) => asFolder(directory) + name);
  const found = paths.flatMap((path) => {
    if (!path.includes('*')) return existing(path);
    const [folder] = splitPath(path);
    return namesIn(folder)
      .map((name) => folder + name)
      .filter(isSecret);
  });
  return [...new Set([...found, ...(await sensitiveFilesIn(directory, signal))])];
}

async function sensitiveFilesIn(directory: BytePath, signal: AbortSignal | undefined): Promise<BytePath[]> {
  const yielder = new Yielder(signal);
  const folder = asFolder(directory);
  const place = fromBytePath(folder);
  const found: BytePath[] = [];
  try {
    for (const { name } of directoryEntries(directory)) {
      if (sensitivityOf(place + fromBytePath(name)) !== undefined) found.push(folder + name);
      if (yielder.shouldYield) await yielder.yield();
    }
  } catch (error) {
    // What cannot be listed is not searched either.
    if (codeOf(error) === undefined) throw error;
  }
  return found;
}

function existing(path: BytePath): BytePath[] {
  const stat = attempt(() => lstatSync(systemPath(path), { throwIfNoEntry: false }));
  return stat === undefined ? [] : [stat.isDirectory() ? `${path}/` : path];
}

function namesIn(directory: BytePath): string[] {
  return attempt(() => readdirSync(systemPath(directory), { encoding: 'latin1' })) ?? [];
}
