import { expandBraces } from './expand-braces.js';
import { type Component, compileComponent, foldCase } from './glob-component.js';

/**
 * Matches glob patterns in time proportional to pattern length times name length: after a mismatch only the last star is
 * retried, both for characters and for path components. There are no regular expressions, so neither an ignore file nor
 * a model can write a pattern that hangs.
 */
export interface Glob {
  /** Whether a whole path, relative and joined by `/`, matches. */
  matches(path: string): boolean;
  /** The state at the root of a walk, which enters only directories in which something can match. */
  readonly start: GlobState;
}

/** The part of the pattern that is left after the parent directories. */
export interface GlobState {
  /** Whether an entry of this directory matches. */
  matches(name: string): boolean;
  /** The state inside a subdirectory; `undefined` when nothing in there can match. */
  enter(name: string): GlobState | undefined;
}

export interface GlobOptions {
  ignoreCase?: boolean;
}

const maxLength = 4096;

/**
 * Compiles a pattern with `*`, `?`, `[a-z]`, `**`, `{a,b}`, and `\` before a literal character.
 * A path that is spelled exactly like the pattern matches as well, so `app/[id]/page.tsx` finds itself.
 * Throws a `RangeError` with a message for the author when the pattern is too large.
 */
export function compileGlob(pattern: string, { ignoreCase = false }: GlobOptions = {}): Glob {
  if (pattern.length > maxLength) throw new RangeError(`the pattern is longer than ${maxLength} characters`);
  const folded = ignoreCase ? foldCase(pattern) : pattern;
  const sources = new Set([folded, ...expandBraces(folded)]);
  const start = stateOf([...sources].flatMap((source) => open(stepsOf(partsOf(source, { ignoreCase })))));
  return globOf(start);
}

/** Why a pattern is invalid, as a message for its author; `undefined` when it is valid. */
export function globProblem(pattern: string): string | undefined {
  try {
    compileGlob(pattern);
    return pattern.trim() === '' ? 'the pattern is empty' : undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** A hint for the author of a pattern that is valid but certainly a mistake; `undefined` otherwise. */
export function globSlip(pattern: string): string | undefined {
  const list = pattern.split(/,\s*/);
  if (list.length > 1 && !pattern.includes('{') && list.every((part) => part.startsWith('*.')))
    return `several patterns are written {${list.join(',')}}`;
  const isAbsolute = pattern.startsWith('/');
  if (!isAbsolute && expandBraces(pattern).some((alternative) => alternative.startsWith('/')))
    return 'braces may not begin with a slash; search one directory at a time';
  return undefined;
}

/** The directories before the first wildcard of a pattern, and the rest; without a wildcard, the rest is the last name. */
export function splitGlob(pattern: string): { base: string; rest: string } {
  const names = pattern.split('/');
  const wild = names.findIndex(hasWildcard);
  const cut = wild < 0 ? names.length - 1 : wild;
  const base = names.slice(0, cut).join('/');
  return { base: base === '' && pattern.startsWith('/') && cut > 0 ? '/' : base, rest: names.slice(cut).join('/') };
}

/** How many directories a pattern names before its first wildcard, and how deep a file can be that matches, if there is a limit. */
export function globExtent(pattern: string): { fixed: number; depth: number | undefined } {
  const sources = [pattern, ...expandBraces(pattern)];
  const isDeep = sources.some((source) => source.includes('**'));
  const depth = isDeep ? undefined : Math.max(...sources.map((source) => namesOf(source).length));
  return { fixed: namesOf(splitGlob(pattern).base).length, depth };
}

/** Whether a pattern contains special characters. */
export function hasWildcard(pattern: string): boolean {
  return /[*?[{\\]/.test(pattern);
}

/** A glob from a pattern that is already split into parts. */
export function globOfParts(parts: readonly Part[]): Glob {
  return globOf(stateOf(open(stepsOf(parts))));
}

function globOf(start: GlobState): Glob {
  return {
    start,
    matches(path) {
      const names = path.split('/');
      const name = names.pop() ?? '';
      let state: GlobState | undefined = start;
      for (const directory of names) state = state?.enter(directory);
      return state?.matches(name) ?? false;
    },
  };
}

/** Any number of directories: `**`. */
export const anyDepth = Symbol('**');

/** One component of a pattern. */
export type Part = Component | typeof anyDepth;

/** One part of the pattern and the next one. */
interface Step {
  part: Part;
  next: Step | undefined;
}

function stepsOf(parts: readonly Part[]): Step | undefined {
  const distinct = parts.filter((part, index) => part !== anyDepth || parts[index + 1] !== anyDepth);
  // `dir/**` is everything below `dir`, not `dir` itself.
  if (distinct.at(-1) === anyDepth) distinct.push(() => true);
  return distinct.reduceRight<Step | undefined>((next, part) => ({ part, next }), undefined);
}

function partsOf(pattern: string, options: GlobOptions): Part[] {
  return namesOf(pattern).map((name) => (name === '**' ? anyDepth : orLiteral(name, options)));
}

function namesOf(pattern: string): string[] {
  return pattern.split('/').filter((name) => name !== '' && name !== '.');
}

function orLiteral(literal: string, options: GlobOptions): Component {
  const component = compileComponent(literal, options);
  const matches: Component = /[[\]\\]/.test(literal) ? (name) => name === literal || component(name) : component;
  return options.ignoreCase ? (name) => matches(foldCase(name)) : matches;
}

/** The possible next steps: `**` also matches no directory. */
function open(step: Step | undefined): Step[] {
  if (step === undefined) return [];
  return step.part === anyDepth ? [step, ...open(step.next)] : [step];
}

function stateOf(steps: readonly Step[]): GlobState {
  const last = steps.flatMap(({ part, next }) => (next === undefined && part !== anyDepth ? [part] : []));
  const state: GlobState = {
    matches: (name) => last.some((component) => component(name)),
    enter(name) {
      const next = new Set(steps.flatMap((step) => following(step, name)));
      if (next.size === 0) return undefined;
      // Below `**` the state stays the same.
      if (next.size === steps.length && steps.every((step) => next.has(step))) return state;
      return stateOf([...next]);
    },
  };
  return state;
}

function following(step: Step, name: string): Step[] {
  if (step.part === anyDepth) return open(step);
  return step.part(name) ? open(step.next) : [];
}
