import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { compileComponent, literalComponent } from '../../text/glob/glob-component.js';
import type { RecordedContent } from '../programs/read-arguments.js';
import type { Pattern } from './expand-word.js';
import { type RecordedTree, workTreeOf } from './recorded-files.js';
import { sensitiveBelow } from './secret-trees.js';

/** A path as written in a command, relative to a directory. */
export interface PathUse {
  cwd: string;
  path: string;
  pattern?: Pattern;
  /** Means the files in `path` that have the names this pattern matches elsewhere: `cp *.c path`. */
  names?: Pattern;
}

/**
 * The absolute paths that the kernel will open: `link/..` is the parent of the symlink's target, and a pattern stands
 * for what it matches now, the symlinks on the way, and the directory it is looked up in.
 */
export async function resolvePathUse({ names, ...use }: PathUse, budget: LookupBudget): Promise<string[]> {
  const { cwd, path, pattern } = use;
  if (names !== undefined) {
    const sources = await resolvePathUse({ cwd, path: '', pattern: names }, budget);
    const places = await resolvePathUse(use, budget);
    budget.lookups -= places.length * sources.length;
    if (budget.lookups < 0) return places;
    return places.flatMap((place) => sources.map((source) => join(place, basename(source))));
  }
  if (pattern === undefined) return [await climb(path.startsWith('/') ? path : `${cwd}/${path}`, budget)];
  const components = splitPattern(pattern);
  const first = components.findIndex((component) => typeof component !== 'string');
  const fixed = components.slice(0, first).join('/');
  const start = fixed.startsWith('/') || (fixed === '' && first > 0) ? `${fixed}/` : `${cwd}/${fixed}`;
  const base = await climb(start, budget);
  const entries = await entriesBehind(base, components.slice(first), budget);
  if (first === 0) budget.flag ??= entries.map((entry) => relative(base, entry)).find((name) => name.startsWith('-'));
  return [base, ...entries];
}

/** Resolves `..` as the kernel does, within the budget: a symlink before it is followed first. */
async function climb(path: string, budget: LookupBudget): Promise<string> {
  const at: string[] = [];
  let mayHoldLinks = false;
  for (const component of path.split('/')) {
    if (component === '' || component === '.') continue;
    if (component !== '..') {
      at.push(component);
      mayHoldLinks = true;
      continue;
    }
    const real = mayHoldLinks ? await budget.real(`/${at.join('/')}`) : undefined;
    if (real !== undefined) {
      at.splice(0, at.length, ...real.split('/').filter((name) => name !== ''));
      mayHoldLinks = false;
    }
    // The command fails on the `..` of a missing directory.
    at.pop();
  }
  const settled = `/${at.join('/')}`;
  return ofProcess.test(settled) ? elsewhere : settled;
}

/** Paths below /proc mean something else for the command's process than for ours. */
const ofProcess = /^\/proc\/[^/]+\/(task\/[^/]+\/)?(cwd|root|fd|exe|map_files)(\/|$)/;
const elsewhere = '/proc/self/elsewhere';

/** A name, or a test for names; the test takes linear time, because pattern and names are untrusted. */
type Component = string | ((name: string) => boolean);

function splitPattern(pattern: Pattern): Component[] {
  const components: Component[] = [];
  let [source, text, isPattern] = ['', '', false];
  const finish = () => {
    components.push(isPattern ? namedBy(source) : text);
    [source, text, isPattern] = ['', '', false];
  };
  for (const part of pattern) {
    if (typeof part !== 'string') {
      // `?` and brackets match one character or one byte; matching any text instead is a safe superset.
      source += '*';
      isPattern = true;
      continue;
    }
    part.split('/').forEach((piece, index) => {
      if (index > 0) finish();
      source += literalComponent(piece);
      text += piece;
    });
  }
  finish();
  return components;
}

/** Only a pattern that starts with a dot matches names that start with one. */
function namedBy(source: string): (name: string) => boolean {
  const fits = compileComponent(source);
  return source.startsWith('.') ? fits : (name) => !name.startsWith('.') && fits(name);
}

const maxLookups = 1000;

/** How many lookups are left to resolve the paths of one command. */
export class LookupBudget {
  /** Counted in directory entries. */
  lookups = maxLookups;
  /** A directory where a pattern matches a name that is not valid UTF-8, so its path is unknown. */
  garbled: string | undefined;
  /** A file that a pattern matches and whose name a program would parse as a flag. */
  flag: string | undefined;
  private readonly links = new Map<string, Promise<string | undefined>>();

  /** The real path; `undefined` if it does not exist or the budget is spent. */
  async real(path: string): Promise<string | undefined> {
    const known = this.links.get(path);
    if (known) return known;
    this.lookups -= 20;
    if (this.lookups < 0) return undefined;
    const found = realDirectory(path).catch(() => undefined);
    this.links.set(path, found);
    return found;
  }
}

/** A path through /proc/self means another process for the command, so its real path here says nothing. */
async function realDirectory(path: string): Promise<string> {
  const real = await realpath(path);
  return real !== path && (await passesThrough('/proc/', path)) ? elsewhere : real;
}

const maxLinks = 40;

/** Whether a path, or a symlink on the way, leads to `place`. */
async function passesThrough(place: string, path: string): Promise<boolean> {
  const rest = path.split('/');
  let [at, links] = ['', 0];
  while (rest.length > 0 && links < maxLinks) {
    const name = rest.shift() ?? '';
    if (name === '' || name === '.') continue;
    at = name === '..' ? dirname(at || '/') : `${at === '/' ? '' : at}/${name}`;
    if (`${at}/`.startsWith(place)) return true;
    const link = await readlink(at).catch(() => undefined);
    if (link === undefined) continue;
    links++;
    rest.unshift(...link.split('/'));
    at = link.startsWith('/') ? '' : dirname(at);
  }
  return links >= maxLinks;
}

/** What a pattern matches, and the symlinks and parents it passes through; all it reached if the budget ends. */
async function entriesBehind(base: string, components: Component[], budget: LookupBudget): Promise<string[]> {
  const ways: string[] = [];
  let reached = [base];
  for (const component of components) {
    const next: string[] = [];
    for (const directory of reached) {
      const entries =
        typeof component === 'string'
          ? await entryNamed(directory, component)
          : await entriesMatching(directory, component);
      budget.lookups -= entries.length + 1;
      if (budget.lookups < 0) return [...ways, ...reached];
      if (entries.some(({ name }) => name.includes('\ufffd'))) budget.garbled ??= directory;
      for (const { name, isLink } of entries) {
        const place = name === '..' ? await climb(`${directory}/..`, budget) : join(directory, name);
        next.push(place);
        if (isLink || name === '..') ways.push(place);
      }
    }
    reached = next;
  }
  return [...ways, ...reached];
}

interface Entry {
  name: string;
  isLink: boolean;
}

async function entryNamed(directory: string, name: string): Promise<Entry[]> {
  const info = await lstat(join(directory, name)).catch(() => undefined);
  return info ? [{ name, isLink: info.isSymbolicLink() }] : [];
}

async function entriesMatching(directory: string, fits: (name: string) => boolean): Promise<Entry[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  return (
    entries
      .filter(({ name }) => fits(name))
      .map((entry) => ({ name: entry.name, isLink: entry.isSymbolicLink() }))
      // In older shells `.*` also matches `..`.
      .concat(fits('..') ? [{ name: '..', isLink: false }] : [])
  );
}

/** A path whose content is shown: a file, or the files below a directory that these limits let through. */
export interface ContentUse extends PathUse {
  only?: readonly string[];
  skipsHidden?: boolean;
}

/** A part of what a repository has recorded, seen from a directory. */
export type RecordedUse = Omit<RecordedContent, 'directory'> & { from: PathUse };

const maxUses = 200;

/** The files whose content is shown; of those below a searched directory, only the ones that may hold keys. */
export async function resolveContents(
  uses: readonly ContentUse[],
  searched: ReadonlySet<string>,
  doubts: Set<string>,
): Promise<string[]> {
  const distinct = [...new Map(uses.map((use) => [JSON.stringify(use), use])).values()];
  if (distinct.length > maxUses) doubts.add(`It names more than ${maxUses} files.`);
  const budget = new LookupBudget();
  const found = new Set<string>();
  for (const { only, skipsHidden, ...use } of distinct.slice(0, maxUses)) {
    for (const path of await resolvePathUse(use, budget)) {
      const info = await stat(path).catch((error: NodeJS.ErrnoException) => error);
      // A word that is too long for a name is text, such as a script.
      if (info instanceof Error && info.code === 'ENAMETOOLONG') continue;
      if (info instanceof Error || !info.isDirectory()) found.add(path);
      else if (searched.has(path))
        for (const file of await sensitiveBelow(path, { ...(only && { only }), ...(skipsHidden && { skipsHidden }) }))
          found.add(file);
    }
  }
  if (budget.lookups < 0) doubts.add('Its paths and patterns lead to too many files.');
  return [...found];
}

/** Which parts of which work trees git shows. Outside of a repository it shows nothing. */
export async function resolveRecorded(uses: readonly RecordedUse[], doubts: Set<string>): Promise<RecordedTree[]> {
  const budget = new LookupBudget();
  const trees: RecordedTree[] = [];
  for (const { from, path, isFromTop, operands = [], isPast } of uses.slice(0, maxUses)) {
    for (const directory of await resolvePathUse(from, budget)) {
      const workTree = await workTreeOf(directory);
      if (workTree === undefined) continue;
      const named =
        path === undefined ? await existing(directory, operands) : [resolve(isFromTop ? workTree : directory, path)];
      const paths = named.length > 0 ? named : [workTree];
      trees.push(...paths.map((each) => ({ workTree, path: each, isPast })));
    }
  }
  if (budget.lookups < 0) doubts.add('Its paths and patterns lead to too many files.');
  return trees;
}

/** For git, an operand that is the name of a file cannot be a revision too. */
async function existing(directory: string, operands: readonly string[]): Promise<string[]> {
  const paths = operands.map((operand) => resolve(directory, operand));
  const found = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        () => [path],
        () => [],
      ),
    ),
  );
  return found.flat();
}
