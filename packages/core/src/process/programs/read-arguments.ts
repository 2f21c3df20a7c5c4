import { unknownPart } from '../shell/command-analysis.js';
import { type Argument, dropStart, knownArgument } from '../shell/expand-word.js';

/** What a git command prints of the files that a repository has recorded. */
export interface RecordedContent {
  /** Where git starts its search for the repository. */
  directory: Argument;
  /** Only files here or below; seen from the top of the work tree if `isFromTop`. Everything when left out. */
  path?: string;
  isFromTop?: boolean;
  /** Operands that limit it to these paths if they exist; otherwise they are revisions. */
  operands?: readonly string[];
  /** Files that are gone may be among them. */
  isPast: boolean;
}

/** What a program does, as far as its arguments tell. */
export interface Effects {
  /** Why it is not proven read-only; absent if it is. */
  why?: string;
  reads?: Argument[];
  /** The part of `reads` whose content is searched; for a directory, everything below it. */
  searches?: Argument[];
  /** The part of `reads` that must not be directories, because the program follows the symlinks in them. */
  followed?: Argument[];
  /** Patterns of names: of the files below `searches`, only those with such a name are read. */
  only?: string[];
  /** Files below `searches` whose names start with a dot are not read. */
  skipsHidden?: boolean;
  /** What git shows as a repository has it. */
  recorded?: RecordedContent[];
  writes?: Argument[];
  usesNetwork?: boolean;
  /** It is of no use without the network. */
  needsNetwork?: boolean;
  /** Directories where git starts its search for a repository, whose configuration can make git run programs. */
  repositories?: Argument[];
  /** Directories where git starts its search for a work tree, whose tracked files it reads. */
  workTrees?: Argument[];
  /** Directories where npm starts its search for a project, whose settings can make npm write files elsewhere. */
  npmProjects?: Argument[];
}

/** Judges the arguments of one program. */
export type Judge = (args: readonly Argument[]) => Effects;

/** Arguments parsed with a list of known flags. */
export interface SortedArguments {
  flags: Set<string>;
  values: { flag: string; value: Argument }[];
  /** The values that name a file or directory to read. */
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
  /** Each word is one flag: no bundles, no attached values. */
  isSingle: boolean;
}

/**
 * Parses a list of flags. `-abc` are three flags without a value, `-n:` takes a text, `-f@` a path that is read, `-i?` a
 * text only if attached; likewise `--name`, `--name=`, `--name=@`, `--name=?`. `--name==` takes the next two words. `-#`
 * is a number. `+` ends the flags at the first operand. `1` makes each word one flag, so that `-ab` is a single flag.
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

/** Parses arguments; returns a reason if one of them is not known to be harmless. */
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

/** A program that accepts only an attached value would parse the next word as a flag. */
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
  // If the first operand ends the flags, the words after it are paths.
  if (last === 'path' || sorted.operands.length > 0) sorted.paths.push(...values);
  return undefined;
}

interface Taken {
  names: string[];
  /** What the last flag takes: nothing, a value that is attached or the next word, or the next two words. */
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
    // If it turns out to be empty, the next word is the value.
    if (rest.value !== '' && rest.value.replaceAll(unknownPart, '') === '')
      return `${argument.text} may lack its value`;
    return { names, last: kind, ...(rest.value !== '' && { attached: rest }) };
  }
  return { names, last: 'none' };
}

/** What the operands of a program are. */
type Operands =
  /** Files it reads. */
  | 'paths'
  /** Like `paths`; without any it reads the current directory. */
  | 'tree'
  /** A search pattern, then as `tree`. After `-e` or `-f` all operands are paths. */
  | 'pattern'
  /** A search pattern, then as `paths`; without any it reads stdin, or with a recursive flag the current directory. */
  | 'lines'
  /** A filter, then files. */
  | 'filter'
  /** Text it prints or compares. */
  | 'text'
  | 'none';

interface Extras {
  /** No flag of the program can write, run or connect, so a file name that is parsed as a flag does no harm. */
  isFree?: boolean;
  /** Arguments that are not proven although all their flags are known, and why. */
  refuse?: (args: SortedArguments) => boolean;
  why?: string;
  /** Shows the contents of the directories among its operands. */
  isSearch?: boolean;
  /** Which files below its operands it reads. */
  limits?: (args: SortedArguments) => Pick<Effects, 'only' | 'skipsHidden'>;
  /** Whether it follows the symlinks in the directories among its operands. */
  followsLinks?: (args: SortedArguments) => boolean;
}

/** A program that is harmless with the listed flags only. */
export function program(
  flags: string,
  operands: Operands,
  {
    isFree = false,
    isSearch = operands === 'pattern' || operands === 'lines',
    refuse,
    why = 'its arguments are not known to be harmless',
    followsLinks,
    limits,
  }: Extras = {},
): Judge {
  // Parsed at the first use: a session uses few of the programs.
  let list: FlagList | undefined;
  return (args) => {
    list ??= flagList(flags);
    const sorted = sortArguments(args, list, { isFree });
    if (typeof sorted === 'string') return { why: sorted };
    // After a `--`, too, one word may become several or none.
    const open = isFree ? undefined : sorted.operands.find(({ isOpen }) => isOpen);
    if (open) return { why: `${open.text} could become several words` };
    const paths = pathsAmong(sorted, operands);
    const searches = isSearch ? paths : [];
    const followed = followsLinks?.(sorted) ? paths : [];
    const effects = { reads: [...sorted.paths, ...paths], searches, followed, ...limits?.(sorted) };
    if (refuse?.(sorted)) return { why, ...effects };
    const isExcess = operands === 'none' && sorted.operands.length > 0;
    return isExcess ? { why: 'an operand could make it do more than print', ...effects } : effects;
  };
}

/** The current directory, as an operand. */
export const here = knownArgument('.');

function pathsAmong({ operands, flags }: SortedArguments, kind: Operands): Argument[] {
  const has = (...names: string[]) => names.some((name) => flags.has(name));
  switch (kind) {
    case 'paths':
      return operands.filter(isNotStdin);
    case 'tree':
      return operands.length > 0 ? operands : [here];
    case 'lines':
    case 'pattern': {
      const isAllPaths = has('-e', '-f', '--regexp', '--file', '--files') || operands[0]?.isGlob;
      const paths = isAllPaths ? operands : operands.slice(1);
      const readsInput = kind === 'lines' && !has('-r', '--recursive', '-d', '--directories');
      return paths.length > 0 || readsInput ? paths.filter(isNotStdin) : [here];
    }
    case 'filter':
      return (has('-f', '--from-file') ? operands : operands.slice(1)).filter(isNotStdin);
    case 'text':
    case 'none':
      return [];
  }
}

const isNotStdin = ({ value }: Argument) => value !== '-';

export const refuseMoreThan = (count: number, why: string): Extras => ({
  why,
  refuse: ({ operands }) => operands.length > count || operands.some(({ isGlob }) => isGlob),
});

/** A judge for each program of a table of flags. */
export function judges(table: Record<string, string>, judge: (flags: string) => Judge): Record<string, Judge> {
  return Object.fromEntries(Object.entries(table).map(([name, flags]) => [name, judge(flags)]));
}

/** A program with subcommands, each judged on its own. Flags before the subcommand are not proven. */
export function subcommands(table: Record<string, Judge>): Judge {
  const judgeOf = new Map(Object.entries(table));
  return ([first, ...rest]) => {
    const judge = first?.isKnown ? judgeOf.get(first.value) : undefined;
    return judge?.(rest) ?? { why: `${first?.text ?? 'it'} is not known to be read-only` };
  };
}
