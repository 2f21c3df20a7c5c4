import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { secretNames } from '../../files/access/protected-names.js';
import { mayBeSensitive, secrecyOf, sensitivityOf } from '../../files/access/protected-paths.js';
import { compileComponent } from '../../text/glob/glob-component.js';

/** How many names are checked; a search through more needs approval. */
const maxEntries = 100_000;
/** Large directories in which people do not keep keys. */
const skipped = new Set(['.git', 'node_modules']);

/** A directory, and how many more levels of dot directories below it are always searched. */
interface Place {
  path: string;
  levels: number;
}

/**
 * Why a search through this directory needs approval: it would read a file with keys or credentials, or too many files to
 * know; `undefined` if neither. Names that start with a dot or underscore are searched first, two levels deep, because
 * programs keep secrets there. Then all others, nearest first, within the budget.
 */
export async function searchDoubt(directory: string, limit = maxEntries): Promise<string | undefined> {
  // A directory that the command names is checked by its own path.
  if (secrecyOf(directory) !== undefined) return undefined;
  const likely: Place[] = [{ path: directory, levels: 2 }];
  const others: Place[] = [];
  let left = limit;
  for (;;) {
    const place = likely.shift() ?? others.shift();
    if (place === undefined) return undefined;
    if (left <= 0) return `It would search more than ${limit} files, too many to look for keys among them.`;
    const entries = await readdir(place.path, { withFileTypes: true }).catch(() => []);
    left -= entries.length;
    const secret = entries.find((entry) => isSecretEntry(entry, place.path));
    if (secret) return `It would search ${join(place.path, secret.name)}, which holds keys or credentials.`;
    for (const entry of entries) {
      if (!entry.isDirectory() || skipped.has(entry.name)) continue;
      const path = join(place.path, entry.name);
      if (place.levels > 0 && /^[._]/.test(entry.name)) likely.push({ path, levels: place.levels - 1 });
      else others.push({ path, levels: 0 });
    }
  }
}

/** How many files that may hold keys are named. */
const maxSensitive = 20;

/** Which files below a directory may hold keys, of those that a search with these limits reads. */
export async function sensitiveBelow(
  directory: string,
  { only, skipsHidden = false }: { only?: readonly string[]; skipsHidden?: boolean },
): Promise<string[]> {
  const tests = only?.map((pattern) => compileComponent(pattern)) ?? [() => true];
  const isRead = (name: string) => tests.some((fits) => fits(name));
  const found: string[] = [];
  const directories = [directory];
  let left = maxEntries;
  // The list grows while it is walked.
  for (const at of directories) {
    const entries = await readdir(at, { withFileTypes: true }).catch(() => []);
    const visible = entries.filter(({ name }) => !skipsHidden || !name.startsWith('.'));
    const [folders, files] = [true, false].map((is) => visible.filter((entry) => entry.isDirectory() === is));
    const names = (files ?? []).map(({ name }) => name).filter((name) => mayBeSensitive(name) && isRead(name));
    found.push(...names.map((name) => join(at, name)).filter((path) => sensitivityOf(path) !== undefined));
    const inner = (folders ?? []).filter(({ name }) => !skipped.has(name));
    directories.push(...inner.map(({ name }) => join(at, name)));
    left -= entries.length;
    if (left <= 0 || found.length >= maxSensitive) break;
  }
  return found;
}

function isSecretEntry(entry: Dirent, directory: string): boolean {
  if (isLinkedRules(entry)) return true;
  return mayBeSecret(entry.name) && secrecyOf(join(directory, entry.name)) !== undefined;
}

/** A search prints the lines of an ignore file that it cannot parse, wherever the symlink leads. */
const isLinkedRules = (entry: Dirent) => entry.isSymbolicLink() && /^\.(git|rg|fd)?ignore$/.test(entry.name);

/**
 * A quick check of a name in a directory that is not secret itself; an unusual name or a copy may be secret. It makes
 * a search through 2,000 files take 2.4 instead of 23 ms to understand:
 * `npm run bench -- --no-peers --only 'shell: understand a search'`.
 */
const mayBeSecret = (name: string) => !plainName.test(name) || copied.test(name) || secretEnding.test(name);
const plainName = /^[\w.-]*\w$/;
const copied = /\.(bak|old|orig|save|swp|\d+)$/i;
const lastNames = secretNames.map((name) => name.slice(name.lastIndexOf('/') + 1));
const secretEnding = new RegExp(
  `^(${lastNames.map((name) => name.replaceAll('.', '\\.').replaceAll('*', '.*')).join('|')})$`,
  'i',
);

/**
 * Whether a search for files by this name or pattern looks for secrets: `.netrc`, `.net*`. Not `*.json`, which also
 * matches ordinary files.
 */
export function seeksSecret(pattern: string): boolean {
  const name = pattern.slice(pattern.lastIndexOf('/') + 1).toLowerCase();
  if (secrecyOf(`/x/${name}`) !== undefined) return true;
  if (!/[*?[\\]/.test(name)) return false;
  const fits = compileComponent(name);
  return plainSecrets.some((secret) => fits(secret) && !fits(`ordinary${extname(secret)}`));
}

const plainSecrets = secretNames.filter((name) => !name.includes('/'));
