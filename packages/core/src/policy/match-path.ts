import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { attempt } from '../contract/errors.js';
import { otherPlaces } from '../files/search/mounts.js';
import { isWithin } from '../files/workspace.js';
import { compileGlob } from '../text/glob/compile-glob.js';
import type { Reading } from './reading.js';

/** The directories that the short forms of a path rule are relative to. */
export interface PathBases {
  home: string;
  /** The project: `/src/**` is relative to it. */
  root: string;
  /** Where the agent was started: `./x` is relative to it. */
  cwd: string;
  /** The project is a copy: rules that forbid something in the original apply to the same file in the copy. */
  copy?: { of: string; at: string };
}

type PathTest = (path: string) => boolean;

/** How many files below a searched directory are compared with a rule. */
const maxEntries = 20_000;
/** Very large and without the user's own files. A rule that names them still matches. */
const skipped = new Set(['.git', 'node_modules']);

/**
 * Patterns as in `.gitignore`, plus braces: `//etc/**` is absolute, `/src/**` and `*.env` are relative to the project,
 * `./x` to the current directory. A pattern that matches a folder covers everything in it.
 */
export class PathRules {
  readonly #bases: PathBases;
  /** Compiled rules: the same few are applied to every file of a search. */
  readonly #tests = new Map<string, PathTest>();

  constructor(bases: PathBases) {
    this.#bases = bases;
  }

  matches(spec: string, path: string, reading: Reading): boolean {
    const key = `${reading} ${spec}`;
    const known = this.#tests.get(key);
    if (known) return known(path);
    const test = reading === 'narrow' ? testOf(anchor(spec, this.#bases), 'narrow') : this.#wideTest(spec);
    this.#tests.set(key, test);
    return test(path);
  }

  /** Whether a rule that forbids matches anything below a directory. Assumed when there are too many entries to check. */
  matchesBelow(spec: string, directory: string): boolean {
    const places = this.#variants(spec).map(startOf);
    const starts = places.flatMap((place) => {
      if (isWithin(directory, place)) return [place];
      return isWithin(place, directory) ? [directory] : [];
    });
    const isForbidden = (path: string) => this.matches(spec, path, 'wide');
    if ([...new Set(starts)].some((start) => someBelow(start, isForbidden) ?? true)) return true;
    const original = this.#original(directory);
    return original !== directory && this.matchesBelow(spec, original);
  }

  #wideTest(spec: string): PathTest {
    const tests = this.#variants(spec).map((anchored) => testOf(anchored, 'wide'));
    return (path) => {
      const original = this.#original(path);
      return tests.some((test) => test(path) || (original !== path && test(original)));
    };
  }

  /** Where a file of a copy comes from. */
  #original(path: string): string {
    const { copy } = this.#bases;
    return copy && isWithin(copy.at, path) ? join(copy.of, relative(copy.at, path)) : path;
  }

  /** The pattern; also as an absolute path with one slash too few, with symlinks resolved, and at other mount points. */
  #variants(spec: string): Anchored[] {
    const written = [anchor(spec, this.#bases), ...(/^\/[^/]/.test(spec) ? [anchor(`/${spec}`, this.#bases)] : [])];
    const real = [...written, ...written.filter(isLinkName).map(atTop)].map(followLinks);
    const mounted = real.filter(({ pattern }) => pattern.startsWith('/')).flatMap(followMounts);
    return [...written, ...real, ...mounted];
  }
}

/** A pattern and the directory it is relative to. */
interface Anchored {
  base: string;
  pattern: string;
}

function anchor(spec: string, bases: PathBases): Anchored {
  if (spec.startsWith('//'))
    return sep === '/' ? from('/', spec.slice(1)) : from(`${spec.slice(2, 4)}\\`, spec.slice(4));
  if (spec === '~' || spec.startsWith('~/')) return from(bases.home, `/${spec.slice(2)}`);
  if (/^\.\.?(?:\/|$)/.test(spec)) return from(bases.cwd, `./${spec}`);
  return from(bases.root, spec);
}

/** Resolves `..` in a pattern, because the paths it is compared with contain none. */
function from(start: string, pattern: string): Anchored {
  // A pattern with a slash inside is relative to the directory too.
  const isHere = /^\.?\//.test(pattern) || pattern.replace(/\/$/, '').includes('/');
  let base = start;
  let rest = posix.normalize(isHere ? pattern.replace(/^\.?\/+/, '') || '.' : pattern);
  for (; rest === '..' || rest.startsWith('../'); rest = rest.slice(3) || '.') base = dirname(base);
  return { base, pattern: isHere ? `/${rest === '.' ? '' : rest}` : rest };
}

/** The names of a pattern, and those before the first wildcard. */
function namesIn(pattern: string): { names: string[]; plain: string[] } {
  const names = pattern.startsWith('/') ? pattern.slice(1).split('/') : [];
  const wild = names.findIndex((name) => /[*?[\\{]/.test(name));
  return { names, plain: wild === -1 ? names : names.slice(0, wild) };
}

/** Everything that the pattern matches is here or below. */
const startOf = ({ base, pattern }: Anchored): string => join(base, ...namesIn(pattern).plain);

/** Whether a pattern for a name at any depth names a symlink in its directory. */
function isLinkName({ base, pattern }: Anchored): boolean {
  if (pattern.startsWith('/') || /[*?[\\{]/.test(pattern)) return false;
  return attempt(() => lstatSync(join(base, pattern)).isSymbolicLink()) ?? false;
}

const atTop = ({ base, pattern }: Anchored): Anchored => ({ base, pattern: `/${pattern}` });

/** Whether a path or an entry below it passes the test, without following symlinks; `undefined` above `maxEntries`. */
function someBelow(start: string, test: PathTest): boolean | undefined {
  if (test(start) && existsSync(start)) return true;
  let left = maxEntries;
  const directories = [start];
  // The list grows while it is walked.
  for (const directory of directories) {
    const entries = attempt(() => readdirSync(directory, { withFileTypes: true })) ?? [];
    left -= entries.length;
    if (left < 0) return undefined;
    for (const entry of entries) {
      const path = join(directory, entry.name);
      if (test(path)) return true;
      if (entry.isDirectory() && !skipped.has(entry.name)) directories.push(path);
    }
  }
  return false;
}

/** The pattern with symlinks resolved in the names before the first wildcard. */
function followLinks({ base, pattern }: Anchored): Anchored {
  const { names, plain } = namesIn(pattern);
  for (let count = plain.length; count >= 0; count--) {
    const real = attempt(() => realpathSync.native(join(base, ...plain.slice(0, count))));
    if (real === undefined) continue;
    const isAnchored = pattern.startsWith('/');
    return { base: real, pattern: isAnchored ? `/${names.slice(count).join('/')}` : pattern };
  }
  return { base, pattern };
}

/** The pattern at other mount points of the same directory. If a mount shows only a part of it, all of the mount is covered. */
function followMounts({ base, pattern }: Anchored): Anchored[] {
  return otherPlaces(base).map(({ path, shows }) => ({ base: path, pattern: shows === 'part' ? '/' : pattern }));
}

function testOf({ base, pattern }: Anchored, reading: Reading): PathTest {
  const isWide = reading === 'wide';
  const isFolder = pattern.endsWith('/');
  const body = pattern.replace(/^\/|\/$/g, '');
  if (body === '') return (path) => isWithin(base, path) && (isWide || path !== base);
  // Case and Unicode normalization are ignored only for rules that forbid.
  const fold = (text: string) => (isWide ? text.normalize('NFC') : text);
  const glob = compileGlob(fold(pattern.replace(/\/$/, '').includes('/') ? body : `**/${body}`), {
    ignoreCase: isWide,
  });
  return (path) => {
    if (path === base || !isWithin(base, path)) return false;
    const names = fold(relative(base, path)).split(sep);
    const deepest = isFolder && !isWide ? names.length - 1 : names.length;
    return names.some((_name, index) => index < deepest && glob.matches(names.slice(0, index + 1).join('/')));
  };
}
