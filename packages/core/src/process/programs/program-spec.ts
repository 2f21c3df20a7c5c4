import { type Argument, knownArgument } from '../shell/expand-word.js';
import { type Effects, flagList, type Judge, type SortedArguments, sortArguments } from './read-arguments.js';

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
  const list = flagList(flags);
  return (args) => {
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
