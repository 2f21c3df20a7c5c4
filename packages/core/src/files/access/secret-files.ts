import { lstatSync, readdirSync } from 'node:fs';
import { asFolder, type BytePath, fromBytePath, isShownAsIs, splitPath, systemPath } from '../byte-path.js';
import { secretNames } from './protected-names.js';
import { foldPath, secrecyOf } from './protected-paths.js';

/** One of these is in every secret path that is not the system's: `.ssh`, `login data`, the `keychains` of a library. */
const tellingNames: readonly string[] = [
  ...new Set(secretNames.filter((path) => !path.startsWith('/')).map(tellingName)),
];

function tellingName(path: string): string {
  const segments = path.split('/');
  return (path.startsWith('.') ? segments[0] : segments.at(-1)) ?? '';
}

// Asking about every path would cost more than the search.
const inSecrets = new RegExp(`(?:^|/)(?:${tellingNames.join('|').replaceAll('.', '\\.')})|^/(?:etc|proc|$)`, 'i');

/** Whether a file, or what is below a directory (it ends in a slash), may be secret because of this name or path. */
function isSuspect(path: BytePath): boolean {
  return inSecrets.test(isShownAsIs(path) ? path : foldPath(fromBytePath(path)).join('/'));
}

/** Those of the files in a directory (it ends in a slash) that hold keys and the like. */
export function secretFiles(directory: BytePath, files: readonly string[]): string[] {
  const suspects = isSuspect(directory) ? files : files.filter(isSuspect);
  return suspects.filter((name) => secrecyOf(fromBytePath(directory + name)) !== undefined);
}

/** Flags that keep ripgrep from reading secrets that have their usual names. */
export const withoutSecrets = secretNames.map((name) => `--iglob=!${name.startsWith('/') ? name : `**/${name}`}`);

/**
 * Secrets right below a directory that have their usual names, directories with a slash at the end. Finding the others
 * would take as long as a search.
 */
export function secretsIn(directory: BytePath): BytePath[] {
  const paths = secretNames.filter((name) => !name.startsWith('/')).map((name) => asFolder(directory) + name);
  const found = paths.flatMap((path) => {
    if (!path.includes('*')) return existing(path);
    const [folder] = splitPath(path);
    return secretFiles(folder, namesIn(folder)).map((name) => folder + name);
  });
  return [...new Set(found)];
}

function existing(path: BytePath): BytePath[] {
  try {
    const stat = lstatSync(systemPath(path), { throwIfNoEntry: false });
    return stat === undefined ? [] : [stat.isDirectory() ? `${path}/` : path];
  } catch {
    return [];
  }
}

function namesIn(directory: BytePath): string[] {
  try {
    return readdirSync(systemPath(directory), { encoding: 'latin1' });
  } catch {
    return [];
  }
}
