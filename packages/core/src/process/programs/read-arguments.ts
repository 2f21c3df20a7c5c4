import { unknownPart } from '../shell/command-analysis.js';
import { type Argument, dropStart } from '../shell/expand-word.js';

/** What a call of a program does, as far as its arguments tell. */
export interface Effects {
  /** Why the call is not proven to change nothing; absent when it is. */
  why?: string;
  reads?: Argument[];
  /** Those of `reads` whose content is searched, and if they are directories all that lies below. */
  searches?: Argument[];
  /** Those of `reads` that must be no directories: links inside would be followed, wherever they lead. */
  followed?: Argument[];
  writes?: Argument[];
  usesNetwork?: boolean;
  /** Directories in which git starts to look for a repository, whose configuration can name programs to run. */
  repositories?: Argument[];
  /** Directories in which git starts to look for a work tree whose tracked files it reads. */
  workTrees?: Argument[];
  /** Directories in which npm starts to look for a project, whose settings can make it write elsewhere. */
  npmProjects?: Argument[];
}

/** Judges the arguments of one program. */
export type Judge = (args: readonly Argument[]) => Effects;

/** Arguments sorted by a list of known flags. */
export interface SortedArguments {
  flags: Set<string>;
  values: { flag: string; value: Argument }[];
  /** Those values that name a file or directory to read. */
  paths: Argument[];
  operands: Argument[];
}

type ValueKind = 'none' | 'text' | 'path' | 'optional' | 'pair';
export interface FlagList {
  kinds: ReadonlyMap<string, ValueKind>;
  /** `-20` is a flag. */
  takesNumber: boolean;
  /** Flags end at the first operand. */
  stopsAtOperand: boolean;
  /** A word is one flag: no bundles, no attached values. */
  isSingle: boolean;
}

/**
 * Reads a list of flags. `-abc` are flags without a value, `-n:` takes a text, `-f@` a path that is read, `-i?` a text
 * only when attached; likewise `--name`, `--name=`, `--name=@`, `--name=?`; `--name==` takes the next two words; `-#`
 * is a number; `+` ends flags at the first operand; `1` means that each flag is a word of its own, `-ab` included.
 */
export function flagList(source: string): FlagList {
  const kinds = new Map<string, ValueKind>();
  const tokens = source.split(/\s+/).filter((token) => token !== '');
  const isSingle = tokens.includes('1');
  for (const token of tokens) {
    const [, name = '', mark = ''] = /^(--?[^:@?=]+?)(:|@|\?|=|=@|=\?|==)?$/.exec(token) ?? [];
    const kind = kindOf[mark] ?? 'none';
    if (name.startsWith('--') || mark !== '' || isSingle) kinds.set(name, kind);
    else for (const letter of name.slice(1)) kinds.set(`-${letter}`, kind);
  }
  return { kinds, takesNumber: tokens.includes('-#'), stopsAtOperand: tokens.includes('+'), isSingle };
}

const kindOf: Record<string, ValueKind | undefined> = {
  ':': 'text',
  '=': 'text',
  '@': 'path',
  '=@': 'path',
  '?': 'optional',
  '=?': 'optional',
  '==': 'pair',
};

/** Sorts arguments, or says which of them is not known to be harmless. */
export function sortArguments(
  args: readonly Argument[],
  list: FlagList,
  { isFree = false }: { isFree?: boolean } = {},
): SortedArguments | string {
  const sorted: SortedArguments = { flags: new Set(), values: [], paths: [], operands: [] };
  const rest = args.slice();
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const { value } = argument;
    if (value === '--') return { ...sorted, operands: [...sorted.operands, ...rest] };
    if (!isFree && couldBeFlag(argument)) return `${argument.text} could become a flag`;
    if (!value.startsWith('-') || value === '-') {
      sorted.operands.push(argument);
      if (list.stopsAtOperand) return { ...sorted, operands: [...sorted.operands, ...rest] };
      continue;
    }
    const taken = value.startsWith('--') ? takeLong(argument, list) : takeShort(argument, list);
    const problem = typeof taken === 'string' ? taken : addFlags(taken, { sorted, rest, isFree });
    if (problem !== undefined) return problem;
  }
  return sorted;
}

/** A program that takes the value only when it is attached would read the next word as a flag. */
const looksLikeFlag = ({ value }: Argument) => /^-./.test(value) && !/^-\d+(\.\d+)?$/.test(value);

const couldBeFlag = ({ isOpen, value }: Argument) => isOpen || value.startsWith(unknownPart);

/** Adds flags and the value of the last one, which is attached or the next argument. */
function addFlags(
  { names, last, attached }: Taken,
  { sorted, rest, isFree }: { sorted: SortedArguments; rest: Argument[]; isFree: boolean },
): string | undefined {
  for (const name of names) sorted.flags.add(name);
  if (last === 'none') return undefined;
  const flag = names.at(-1) ?? '';
  const count = last === 'pair' ? 2 : 1;
  const values = attached ? [attached] : rest.splice(0, count);
  if (values.length < count) return `${flag} lacks its value`;
  const vague = values.find(
    (value) => value.isOpen || (!attached && (value.isGlob || looksLikeFlag(value) || (!isFree && couldBeFlag(value)))),
  );
  if (vague) return `${vague.text} could become a flag`;
  sorted.values.push(...values.map((value) => ({ flag, value })));
  // Where the first operand ends the flags, what follows is a path.
  if (last === 'path' || sorted.operands.length > 0) sorted.paths.push(...values);
  return undefined;
}

interface Taken {
  names: string[];
  /** What the last flag takes: nothing, or a value that is attached or follows, or two that follow. */
  last: Exclude<ValueKind, 'optional'>;
  attached?: Argument;
}

function takeLong(argument: Argument, { kinds }: Pick<FlagList, 'kinds'>): Taken | string {
  const [name = ''] = argument.value.split('=', 1);
  const kind = kinds.get(name);
  if (kind === undefined) return `${argument.text} is not known to be harmless`;
  const hasValue = name.length < argument.value.length;
  if (!hasValue) return { names: [name], last: kind === 'optional' ? 'none' : kind };
  if (kind === 'none' || kind === 'pair') return `${argument.text} is not known to be harmless`;
  return { names: [name], last: kind === 'path' ? 'path' : 'text', attached: dropStart(argument, name.length + 1) };
}

function takeShort(argument: Argument, { kinds, takesNumber, isSingle }: FlagList): Taken | string {
  const { value } = argument;
  if (isSingle) return takeLong(argument, { kinds });
  if (takesNumber && /^-\d+$/.test(value)) return { names: ['-#'], last: 'none' };
  const names: string[] = [];
  for (let at = 1; at < value.length; at++) {
    const name = `-${value[at]}`;
    const kind = kinds.get(name);
    if (kind === undefined) return `${argument.text} is not known to be harmless`;
    names.push(name);
    if (kind === 'none') continue;
    const rest = dropStart(argument, at + 1);
    if (kind === 'optional') return { names, last: 'text', attached: rest };
    // Should it turn out empty, the next word would be the value.
    if (rest.value !== '' && rest.value.replaceAll(unknownPart, '') === '')
      return `${argument.text} may lack its value`;
    return { names, last: kind, ...(rest.value !== '' && { attached: rest }) };
  }
  return { names, last: 'none' };
}
