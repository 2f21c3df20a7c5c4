import { type BytePath, fromBytePath } from './byte-path.js';
import { secretNames } from './protected-names.js';
import { secrecyOf } from './protected-paths.js';

// What every secret path has in it: asking about each of the others would cost more than the search.
const suspectDirectory = /\/[._]|^\/(?:etc|proc)\/|keychains/i;
const suspectName = /^[._]|^(?:login data|key4\.db|logins\.json)$/i;

/** Whether files below a directory (it ends in a slash) may be secret because of the directory. */
export function isSuspectDirectory(directory: BytePath): boolean {
  return suspectDirectory.test(directory);
}

/** Those of the files in a directory (it ends in a slash) that hold keys and the like. */
export function secretFiles(directory: BytePath, names: readonly string[]): string[] {
  const suspects = isSuspectDirectory(directory) ? names : names.filter((name) => suspectName.test(name));
  return suspects.filter((name) => secrecyOf(fromBytePath(directory + name)) !== undefined);
}

/**
 * A flag of ripgrep that leaves out every file `secretFiles` could mean, and some others: each name that a secret path
 * begins with, and each name that may be another spelling of one.
 */
export const withoutSecretsFlag = `--iglob=!{${[
  ...new Set(secretNames.map((path) => path.split('/')[0] ?? '').filter((name) => name.startsWith('.'))),
  '.*[! -9;-Z_-~]*',
  '.*[. ]',
  '_*n*e*t*r*c*',
  'login data',
  'key4.db',
  'logins.json',
  '*keychains*',
]
  // One pattern for all: ripgrep prepares each one by itself, and logs it.
  .join(',')}}`;
