import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { compileComponent, literalComponent } from '../text/glob-component.js';
import type { Pattern } from './expand-word.js';

/** A path as a command spells it, seen from a directory. */
export interface PathUse {
  cwd: string;
  path: string;
  pattern?: Pattern;
  /** Not the path itself, but files in it with the names of those that this pattern matches: `cp *.c path`. */
  names?: Pattern;
}

/**
 * Absolute paths that say what the kernel will open: `link/..` leads to the parent of the link's target, and a pattern
 * stands for what it matches now, the links on the way, and the directory it is looked up in.
 */
export async function resolvePathUse({ names, ...use }: PathUse, budget: LookupBudget): Promise<string[]> {
  const { cwd, path, pattern } = use;
  if (names !== undefined) {
    const sources = await resolvePathUse({ cwd, path: '', pattern: names }, budget);
    const places = await resolvePathUse(use, budget);
    budget.looks -= places.length * sources.length;
    if (budget.looks < 0) return places;
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

/** Resolves `..` as the kernel does, while the budget lasts: a link before it is followed first. */
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
    // A missing directory cannot be climbed out of either: the command fails on it.
    at.pop();
  }
  const settled = `/${at.join('/')}`;
  return ofProcess.test(settled) ? elsewhere : settled;
}

/** What leads away from a process is another thing for the command than for us. */
const ofProcess = /^\/proc\/[^/]+\/(task\/[^/]+\/)?(cwd|root|fd|exe|map_files)(\/|$)/;
const elsewhere = '/proc/self/elsewhere';

/** A name, or what a name has to fit: in time linear in it, because both come from others. */
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
      // A ? or brackets match one character, or one byte of it; any text is close enough, and never too little.
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

/** A dot at the start of a name has to be written. */
function namedBy(source: string): (name: string) => boolean {
  const fits = compileComponent(source);
  return source.startsWith('.') ? fits : (name) => !name.startsWith('.') && fits(name);
}

const maxLooks = 1000;

/** What may still be looked at to settle the paths of one command. */
export class LookupBudget {
  /** In entries of directories. */
  looks = maxLooks;
  /** A directory where a pattern matches a name that cannot be written as text, so that nobody knows where it leads. */
  garbled: string | undefined;
  /** A file that a pattern matches, and whose name a program would take for a flag. */
  flag: string | undefined;
  private readonly links = new Map<string, Promise<string | undefined>>();

  /** Where a path leads; `undefined` when there is nothing, or the budget is spent. */
  async real(path: string): Promise<string | undefined> {
    const known = this.links.get(path);
    if (known) return known;
    this.looks -= 20;
    if (this.looks < 0) return undefined;
    const found = realDirectory(path).catch(() => undefined);
    this.links.set(path, found);
    return found;
  }
}

/** In /proc the command is another process than this one, so what a path through it means here says nothing. */
async function realDirectory(path: string): Promise<string> {
  const real = await realpath(path);
  return real !== path && (await passesThrough('/proc/', path)) ? elsewhere : real;
}

const maxLinks = 40;

/** Whether a path, or a link on the way, leads there. */
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

/** What a pattern matches, and the links and parents it passes through; all it reached when the budget ends. */
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
      budget.looks -= entries.length + 1;
      if (budget.looks < 0) return [...ways, ...reached];
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
      // Older shells take `..` for one of the names that begin with a dot.
      .concat(fits('..') ? [{ name: '..', isLink: false }] : [])
  );
}
