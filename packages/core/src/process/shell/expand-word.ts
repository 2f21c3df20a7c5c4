import { unknownPart } from './command-analysis.js';
import type { Piece, ShellWord } from './shell-syntax.js';

/** One word as a program receives it. */
export interface Argument {
  /** `unknownPart` marks what is known only at run time. */
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

/** The shell itself reads directories to expand such a word, whatever the program does with the names. */
export const isFilePattern = ({ isGlob }: Argument): boolean => isGlob === true;

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
  // An empty choice without quotes is no word.
  const isQuoted = word.pieces.some(({ type }) => type === 'text');
  return choices.map((fragments) => join(fragments, word.text)).filter(({ value }) => value !== '' || isQuoted);
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

function join(fragments: readonly Fragment[], text: string): Argument {
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
