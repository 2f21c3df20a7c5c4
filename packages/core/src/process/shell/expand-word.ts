import { join } from 'node:path';
import { unknownPart } from './command-analysis.js';
import type { Piece, ShellWord } from './shell-syntax.js';

/** One word as a program receives it. */
export interface Argument {
  /** `unknownPart` marks a part that is known only at run time. */
  value: string;
  text: string;
  isKnown: boolean;
  /** May become several words, or none. */
  isOpen: boolean;
  /** A pattern: may become several words, each starting with the text before it. */
  isGlob?: boolean;
  /** The pattern behind a word that is replaced by file names. */
  pattern?: Pattern;
  /** Stands for the files in this directory that have the names this pattern matches elsewhere. */
  names?: Pattern;
  /** A file that a search found below this directory, and that is not a symlink. */
  below?: Argument;
  /** A pattern that the name of such a file matches. */
  only?: string;
}

export const knownArgument = (value: string): Argument => ({ value, text: value, isKnown: true, isOpen: false });

/** Literal text and glob characters in turn. */
export type Pattern = (string | { glob: string })[];

/** What the shell knows when it expands a word. */
export interface ExpansionScope {
  home: string;
  /** The directories the shell may be in; empty when that is unknown. */
  cwds: readonly string[];
  variables: ReadonlyMap<string, Argument>;
}

const maxChoices = 64;

/** The words that one word of the source becomes: several for `{a,b}`, else one. */
export function expandWord(word: ShellWord, scope: ExpansionScope): Argument[] {
  let choices: Fragment[][] = [[]];
  for (const piece of word.pieces) {
    if (piece.type !== 'braces') {
      const fragment = expandPiece(piece, scope);
      for (const choice of choices) choice.push(fragment);
      continue;
    }
    const added = piece.choices.map(known);
    if (choices.length * added.length > maxChoices) return [{ ...open, text: word.text }];
    choices = choices.flatMap((choice) => added.map((fragment) => [...choice, fragment]));
  }
  // An empty choice without quotes is not a word.
  const isQuoted = word.pieces.some(({ type }) => type === 'text');
  return choices.map((fragments) => joined(fragments, word.text)).filter(({ value }) => value !== '' || isQuoted);
}

type Fragment = Omit<Argument, 'text'>;
const known = (value: string): Fragment => ({ value, isKnown: true, isOpen: false });
const open: Fragment = { value: unknownPart, isKnown: false, isOpen: true };

function expandPiece(piece: Exclude<Piece, { type: 'braces' }>, scope: ExpansionScope): Fragment {
  switch (piece.type) {
    case 'text':
      return known(piece.value);
    case 'home':
      return known(scope.home);
    case 'glob':
      return { value: unknownPart, isKnown: false, isOpen: false, isGlob: true, pattern: [{ glob: piece.text }] };
    case 'unknown':
      return { value: unknownPart, isKnown: false, isOpen: !piece.isQuoted };
    case 'variable':
      return expandVariable(piece.name, piece.isQuoted, scope);
  }
}

function expandVariable(name: string, isQuoted: boolean, { home, cwds, variables }: ExpansionScope): Fragment {
  const bound = variables.get(name) ?? builtIn(name, home, cwds);
  if (!bound) return { value: unknownPart, isKnown: false, isOpen: !isQuoted };
  // Without quotes bash splits the value at blanks and expands patterns in it.
  if (!isQuoted && /[*?[\\]/.test(bound.value)) return { ...open, isGlob: true };
  if (!isQuoted && (!bound.isKnown || bound.value === '' || /\s/.test(bound.value))) return open;
  // Each iteration of a loop over a pattern sees one of its words.
  return { ...bound, isGlob: false };
}

function builtIn(name: string, home: string, cwds: readonly string[]): Fragment | undefined {
  if (name === 'HOME') return known(home);
  const [only, ...others] = cwds;
  return name === 'PWD' && only !== undefined && others.length === 0 ? known(only) : undefined;
}

function joined(fragments: readonly Fragment[], text: string): Argument {
  const isPattern =
    fragments.some(({ pattern }) => pattern) && fragments.every(({ isKnown, pattern }) => isKnown || pattern);
  return {
    value: fragments.map(({ value }) => value).join(''),
    text,
    isKnown: fragments.every(({ isKnown }) => isKnown),
    isOpen: fragments.some(({ isOpen }) => isOpen),
    ...(fragments.some(({ isGlob }) => isGlob) && { isGlob: true }),
    // A word with other unknown text has no pattern to look up.
    ...(isPattern && { pattern: fragments.flatMap(({ pattern, value }): Pattern => pattern ?? [value]) }),
  };
}

/** The word without its first characters, which must be known. */
export function dropStart(argument: Argument, length: number): Argument {
  const { pattern, ...rest } = argument;
  let left = length;
  const cut = pattern?.map((part) => {
    if (typeof part !== 'string') return part;
    const kept = part.slice(left);
    left -= part.length - kept.length;
    return kept;
  });
  return { ...rest, value: rest.value.slice(length), ...(cut && { pattern: cut }) };
}

/** The directories the shell may be in after success and after failure; none when that is unknown. */
export interface Outcome {
  ok: readonly string[];
  failed: readonly string[];
}

/** Whether it succeeds or not. */
export const both = (cwds: readonly string[]): Outcome => ({ ok: cwds, failed: cwds });

/** Longer paths are not followed. */
const maxPathLength = 1024;

const unusualPaths = [
  /^-/,
  // Paths below /dev and /proc mean something else for each process.
  /^\/+(dev|proc)(\/|$)/,
  // The shell resolves `a/..` by text, other programs by the file system, so such a path could mean two places.
  /[^/.][^/]*\/+\.\.(\/|$)/,
];

/** Where `cd` leads; `undefined` if that is known only at run time. */
export function directoryAfter(
  args: readonly Argument[],
  { cwds, home }: { cwds: readonly string[]; home: string },
): Outcome | undefined {
  const [target, ...others] = args[0]?.value === '--' ? args.slice(1) : args;
  const path = target?.value ?? home;
  const isPlain = others.length === 0 && (target?.isKnown ?? true) && path !== '';
  if (!isPlain || unusualPaths.some((pattern) => pattern.test(path))) return undefined;
  const ok = path.startsWith('/') ? [join('/', path)] : cwds.map((cwd) => join(cwd, path));
  return ok.every((directory) => directory.length <= maxPathLength) ? { ok, failed: cwds } : undefined;
}

const directoryChangers = new Set(['pushd', 'popd', 'eval', 'source', '.']);

/** Whether a command changes the directory of the shell: `pushd directory` moves as `cd` does. */
export function movesShell([name, ...args]: readonly Argument[]): 'as cd does' | 'maybe' | 'no' {
  if (name?.value === 'cd') return 'as cd does';
  const isPlainPush = name?.value === 'pushd' && args.length === 1 && !/^[-+]/.test(args[0]?.value ?? '');
  if (isPlainPush) return 'as cd does';
  if (name === undefined || !name.isKnown || directoryChangers.has(name.value)) return 'maybe';
  const isWrapped = ['command', 'builtin'].includes(name.value);
  return isWrapped && args.some(({ value, isKnown }) => !isKnown || value === 'cd') ? 'maybe' : 'no';
}

/** Empty means unknown: if one side is unknown, or there are too many directories, so is the result. */
export function union(left: readonly string[], right: readonly string[]): readonly string[] {
  if (left === right) return left;
  if (left.length === 0 || right.length === 0) return [];
  const all = [...new Set([...left, ...right])];
  return all.length > 8 ? [] : all;
}
