import type { Argument } from '../shell/expand-word.js';
import { flagList, type Judge, type SortedArguments, sortArguments } from './read-arguments.js';

/** What the operands of a program are. */
type Operands =
  /** Files it reads. */
  | 'paths'
  /** As `paths`; without any it reads the current directory. */
  | 'tree'
  /** A search pattern, then as `tree`. Patterns given by `-e` or `-f` leave all operands paths. */
  | 'pattern'
  /** A search pattern, then as `paths`; without any it reads its input, or the current directory when told to recurse. */
  | 'lines'
  /** A filter, then files. */
  | 'filter'
  /** Text it prints or compares. */
  | 'text'
  | 'none';

interface Extras {
  /** No flag of the program can write, run or connect: a file name taken for a flag does no harm. */
  isFree?: boolean;
  /** What is wrong with arguments whose flags are all known. */
  refuse?: (args: SortedArguments) => string | undefined;
  /** Shows what is in a directory among its operands. */
  isSearch?: boolean;
  /** Whether it shows where links lead that lie in a directory among its operands. */
  followsLinks?: (args: SortedArguments) => boolean;
}

/** A program that is harmless with the flags listed, and only with them. */
export function program(
  flags: string,
  operands: Operands,
  { isFree = false, isSearch = operands === 'pattern' || operands === 'lines', refuse, followsLinks }: Extras = {},
): Judge {
  const list = flagList(flags);
  return (args) => {
    const sorted = sortArguments(args, list, { isFree });
    if (typeof sorted === 'string') return { why: sorted };
    // Also behind a `--` one word may become several, or none.
    const open = isFree ? undefined : sorted.operands.find(({ isOpen }) => isOpen);
    if (open) return { why: `${open.text} could become several words` };
    const isEmpty = operands !== 'none' || sorted.operands.length === 0;
    const why = refuse?.(sorted) ?? (isEmpty ? undefined : 'an operand could make it do more than print');
    const paths = pathsAmong(sorted, operands);
    const searches = isSearch ? paths : [];
    const followed = followsLinks?.(sorted) ? paths : [];
    return { ...(why !== undefined && { why }), reads: [...sorted.paths, ...paths], searches, followed };
  };
}

/** The current directory, as an operand. */
export const here: Argument = { value: '.', text: '.', isKnown: true, isOpen: false };

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

export const refuseMoreThan = (count: number, why: string) => ({
  refuse: ({ operands }: SortedArguments) =>
    operands.length > count || operands.some(({ isGlob }) => isGlob) ? why : undefined,
});

/** A program that runs code, unless its only argument is one of these. */
export function onlyWith(...allowed: string[]): Judge {
  return ([first, ...others]) =>
    first !== undefined && others.length === 0 && first.isKnown && allowed.includes(first.value)
      ? {}
      : { why: 'it can run code' };
}

/** A program with subcommands, each judged on its own; flags before the subcommand are refused. */
export function subcommands(judges: Record<string, Judge>): Judge {
  const table = new Map(Object.entries(judges));
  return ([first, ...rest]) => {
    const judge = first?.isKnown ? table.get(first.value) : undefined;
    return judge?.(rest) ?? { why: `${first?.text ?? 'it'} is not known to be read-only` };
  };
}
