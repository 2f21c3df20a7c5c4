import { type Dirent, existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { otherPlaces } from '../files/search/mounts.js';
import { isWithin } from '../files/workspace.js';
import { compileGlob } from '../text/glob/compile-glob.js';
import type { Reading } from './reading.js';

/** Where the short forms of a path rule begin. */
export interface PathBases {
  home: string;
  /** The project: `/src/**` is relative to it. */
  root: string;
  /** Where the agent was started: `./x` is relative to it. */
  cwd: string;
}

type PathTest = (path: string) => boolean;

/** Files below a searched directory that rules are compared with. */
const maxLooks = 20_000;
/** Would use that up in every project, and hold nothing that is one's own; a rule that names them holds all the same. */
const skipped = new Set(['.git', 'node_modules']);

/**
 * Patterns as in `.gitignore`, and with braces: `//etc/**` absolute, `~/x`, `/src/**` and `*.env` in the project, `./x`
 * here. What matches a folder holds for everything in it.
 */
export class PathRules {
  readonly #bases: PathBases;
  /** The same few rules meet every file of a search. */
  readonly #tests = new Map<string, PathTest>();

  constructor(bases: PathBases) {
    this.#bases = bases;
  }

  matches(spec: string, path: string, reading: Reading): boolean {
    const key = `${reading} ${spec}`;
    const known = this.#tests.get(key);
    if (known) return known(path);
    const test = reading === 'narrow' ? this.#exactly(spec) : this.#widely(spec);
    this.#tests.set(key, test);
    return test(path);
  }

  /** Whether a rule that forbids holds for something below a directory; so it does when there is too much to look at. */
  matchesBelow(spec: string, directory: string): boolean {
    const places = this.#readings(spec).map(placeOf);
    const starts = places.flatMap((place) => {
      if (isWithin(directory, place)) return [place];
      return isWithin(place, directory) ? [directory] : [];
    });
    const isForbidden = (path: string) => this.matches(spec, path, 'wide');
    return [...new Set(starts)].some((start) => someBelow(start, isForbidden) ?? true);
  }

  #exactly(spec: string): PathTest {
    return testOf(anchor(spec, this.#bases), 'narrow');
  }

  /** Also as an absolute path whose second slash was forgotten, where links on its way lead, and where mounts show it. */
  #widely(spec: string): PathTest {
    const tests = this.#readings(spec).map((anchored) => testOf(anchored, 'wide'));
    return (path) => tests.some((test) => test(path));
  }

  #readings(spec: string): Anchored[] {
    const readings = [anchor(spec, this.#bases), ...(/^\/[^/]/.test(spec) ? [anchor(`/${spec}`, this.#bases)] : [])];
    const real = readings.map(followLinks);
    const mounted = real.filter(({ pattern }) => pattern.startsWith('/')).flatMap(followMounts);
    return [...readings, ...real, ...mounted];
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

/** Takes `..` out of a pattern: no path that is judged holds any. */
function from(start: string, pattern: string): Anchored {
  const isHere = pattern.startsWith('/') || pattern.startsWith('./');
  let base = start;
  let rest = posix.normalize(isHere ? pattern.replace(/^\.?\/+/, '') || '.' : pattern);
  for (; rest === '..' || rest.startsWith('../'); rest = rest.slice(3) || '.') base = dirname(base);
  return { base, pattern: isHere ? `/${rest === '.' ? '' : rest}` : rest };
}

/** The names of a pattern, and those of them that stand before the first wildcard. */
function namesIn(pattern: string): { names: string[]; plain: string[] } {
  const names = pattern.startsWith('/') ? pattern.slice(1).split('/') : [];
  const wild = names.findIndex((name) => /[*?[\\{]/.test(name));
  return { names, plain: wild === -1 ? names : names.slice(0, wild) };
}

/** What a pattern matches lies here, or below. */
const placeOf = ({ base, pattern }: Anchored): string => join(base, ...namesIn(pattern).plain);

/** Whether a path or something below it passes the test, no links followed; `undefined` when there is too much. */
function someBelow(start: string, test: PathTest): boolean | undefined {
  if (test(start) && existsSync(start)) return true;
  let left = maxLooks;
  const directories = [start];
  // The list grows while it is walked.
  for (const directory of directories) {
    const entries = entriesOf(directory);
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

/** None of what is no directory, or cannot be read by us. */
function entriesOf(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** With every link among the names before the first wildcard followed. */
function followLinks({ base, pattern }: Anchored): Anchored {
  const { names, plain } = namesIn(pattern);
  for (let count = plain.length; count >= 0; count--) {
    const real = realPath(join(base, ...plain.slice(0, count)));
    if (real === undefined) continue;
    const isAnchored = pattern.startsWith('/');
    return { base: real, pattern: isAnchored ? `/${names.slice(count).join('/')}` : pattern };
  }
  return { base, pattern };
}

/** The same place where a mount shows it. Which part of it a mount shows is not compared: all of that is meant. */
function followMounts({ base, pattern }: Anchored): Anchored[] {
  return otherPlaces(base).map(({ path, shows }) => ({ base: path, pattern: shows === 'part' ? '/' : pattern }));
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function testOf({ base, pattern }: Anchored, reading: Reading): PathTest {
  const isWide = reading === 'wide';
  const isFolder = pattern.endsWith('/');
  const body = pattern.replace(/^\/|\/$/g, '');
  if (body === '') return (path) => isWithin(base, path) && (isWide || path !== base);
  // Case and spelling are folded only where that forbids more.
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
