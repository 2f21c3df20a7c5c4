import { unknownPart } from './command-analysis.js';
import type { Piece, ShellWord } from './shell-syntax.js';

/** One word as a program receives it. */
export interface Argument {
  /** `unknownPart` marks what only the run can tell. */
  value: string;
  text: string;
  isKnown: boolean;
  /** May become several words, or none. */
  isOpen: boolean;
  /** The pattern behind a word that is replaced by file names. */
  pattern?: Pattern;
  /** A file that a search found below this directory, and that is no link. */
  below?: Argument;
}

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
  let drafts: Argument[] = [{ value: '', text: word.text, isKnown: true, isOpen: false }];
  for (const piece of word.pieces) {
    const choices = piece.type === 'braces' ? piece.choices.map(known) : [expandPiece(piece, scope)];
    drafts = drafts.flatMap((draft) => choices.map((choice) => append(draft, choice)));
    if (drafts.length > maxChoices) return [append({ value: '', text: word.text, isKnown: true, isOpen: true }, open)];
  }
  // An empty choice without quotes is no word.
  const isQuoted = word.pieces.some(({ type }) => type === 'text');
  return drafts.filter(({ value }) => value !== '' || isQuoted);
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
      return { value: unknownPart, isKnown: false, isOpen: false, pattern: [{ glob: piece.text }] };
    case 'unknown':
      return { value: unknownPart, isKnown: false, isOpen: !piece.isQuoted };
    case 'variable':
      return expandVariable(piece.name, piece.isQuoted, scope);
  }
}

function expandVariable(name: string, isQuoted: boolean, { home, cwds, variables }: ExpansionScope): Fragment {
  const bound = variables.get(name) ?? builtIn(name, home, cwds);
  if (!bound) return { value: unknownPart, isKnown: false, isOpen: !isQuoted };
  // Without quotes bash splits the value at blanks and looks for patterns in it.
  if (!isQuoted && (!bound.isKnown || bound.value === '' || /[\s*?[\\]/.test(bound.value))) return open;
  return bound;
}

function builtIn(name: string, home: string, cwds: readonly string[]): Fragment | undefined {
  if (name === 'HOME') return known(home);
  const [only, ...others] = cwds;
  return name === 'PWD' && only !== undefined && others.length === 0 ? known(only) : undefined;
}

function append(draft: Argument, { value, isKnown, isOpen, pattern }: Fragment): Argument {
  const parts = [draft, { value, isKnown, pattern }];
  const isPattern = parts.some((part) => part.pattern) && parts.every((part) => part.isKnown || part.pattern);
  return {
    value: draft.value + value,
    text: draft.text,
    isKnown: draft.isKnown && isKnown,
    isOpen: draft.isOpen || isOpen,
    // A word with other unknown text has no pattern that could be looked up.
    ...(isPattern && { pattern: parts.flatMap((part): Pattern => part.pattern ?? [part.value]) }),
  };
}

/** The word without its first characters, which must be known. */
export function dropStart(argument: Argument, length: number): Argument {
  const { pattern, ...rest } = argument;
  const [first, ...others] = pattern ?? [];
  return {
    ...rest,
    value: rest.value.slice(length),
    ...(typeof first === 'string' && { pattern: [first.slice(length), ...others] }),
  };
}
