import { type Argument, knownArgument } from '../shell/expand-word.js';
import { nameSet } from './name-set.js';
import { flagList, here, type RecordedContent, sortArguments } from './read-arguments.js';

/**
 * The recorded content that a git command may print. Commands and flags are listed that print none; any other is
 * assumed to print everything.
 */
export function recordedContent(args: readonly Argument[]): RecordedContent[] {
  const { directory, isVague, rest } = splitGlobal(args);
  const [subcommand, ...more] = rest;
  if (!subcommand) return [];
  const everything = { directory, isPast: true };
  if (isVague || !subcommand.isKnown) return [everything];
  const parts = subcommand.value === 'stash' ? more.splice(0, 1).map(({ value }) => value) : [];
  const name = [subcommand.value, ...parts].join('-');
  const { operands, paths = [] } = splitOperands(more);
  const isSilent = silent.has(name) ? !more.some(showsHunks(name)) : isQuiet(name, more, operands);
  if (isSilent) return [];
  if (paths.length > 0)
    return paths.every(isPlainPath) ? paths.map(({ value }) => ({ ...everything, path: value })) : [everything];
  const named = operands.flatMap(pathInRevision).map((path) => ({ ...everything, ...path }));
  if (named.length > 0) return named.length < operands.length ? [...named, everything] : named;
  return operands.every(isPlainPath) ? contentOf(name, directory, operands, more) : [everything];
}

/** The path in `HEAD:path` or `:0:path`. */
function pathInRevision({ value, isKnown }: Argument): { path: string; isFromTop: boolean }[] {
  const [, path] = (isKnown && /^[^:]*:(?:\d:)?(.+)$/.exec(value)) || [];
  return path === undefined ? [] : [{ path, isFromTop: !/^\.\.?\//.test(path) }];
}

function contentOf(
  name: string,
  directory: Argument,
  operands: readonly Argument[],
  args: readonly Argument[],
): RecordedContent[] {
  if (name === 'grep') return [{ directory, path: '.', isPast: operands.length > 1 }];
  const words = operands.map(({ value }) => value);
  if (/^(blame|annotate)$/.test(name)) return words.map((path) => ({ directory, isPast: true, path }));
  const isLate = args.some(({ value }) => /^--(cached|staged|merge-base)$/.test(value));
  const isPresent = name === 'diff' && operands.length === 0 && !isLate;
  return [{ directory, isPast: !isPresent, operands: words }];
}

/** Subcommands that print no content, unless a flag makes them. */
const silent = nameSet(
  'add rm mv commit push pull fetch clone init branch checkout switch restore reset merge rebase remote config rev-parse ' +
    'ls-files ls-tree ls-remote worktree submodule cherry-pick revert apply gc prune fsck version --version help --help clean ' +
    'describe shortlog name-rev merge-base show-ref check-ignore check-attr cherry count-objects symbolic-ref update-index ' +
    'status update-ref pack-refs repack maintenance sparse-checkout read-tree write-tree bisect hash-object ' +
    'stash stash-list stash-push stash-pop stash-apply stash-drop stash-clear stash-save',
);

/** `status -v`, `commit --dry-run -v`, `add -p`: hunks of changed files. In others -v means more words. */
const showsHunks = (name: string) => {
  const isLoud = /^(status|commit)$/.test(name) ? /^-[a-z]*v|^--verbose/ : /^(?!)/;
  const isStash = name === 'stash-list';
  return ({ value, isKnown }: Argument) =>
    !isKnown ||
    isLoud.test(value) ||
    /^-[a-zA-Z]*p|^--(patch|interactive|edit|show-)/.test(value) ||
    (isStash && textFlag(value));
};

const summaryFlags = nameSet(
  '--stat --numstat --shortstat --dirstat --summary --compact-summary --name-only --name-status --raw --no-patch -s --quiet',
);
const textFlags = nameSet(
  '-p -u -U -W -c -m -S -G -L --patch --unified --patch-with-stat --color-words --word-diff --word-diff-regex --binary --check ' +
    '--function-context --cc --diff-merges --remerge-diff --text --ext-diff --textconv --pickaxe-all --pickaxe-regex',
);
const textFlag = (value: string) => textFlags.has(value.replace(/=.*$/s, '')) || /^-[USGL]./.test(value);

/** Only with these in front of it may another letter be part of a bundle. */
const shortFlags = flagList('-1zrtdgiEFPqsnbRMCBDlXO -n: -M? -C? -B? -l: -puWcmaw -U? -S: -G: -L: -#');

/** Whether a subcommand that can print content prints none with these flags and operands. */
function isQuiet(name: string, args: readonly Argument[], operands: readonly Argument[]): boolean {
  const end = args.findIndex(({ value }) => value === '--');
  const flags = (end === -1 ? args : args.slice(0, end)).filter(({ value }) => /^-./.test(value));
  if (flags.some(({ value, isKnown }) => !isKnown || textFlag(value) || hasTextLetter(value))) return false;
  const isSummary = flags.some(({ value }) => summaryFlags.has(value.replace(/=.*$/s, '')));
  if (/^(log|rev-list|reflog|stash-show|diff-tree|diff-index|diff-files)$/.test(name)) return true;
  if (name === 'cat-file') return flags.some(({ value }) => /^-[tse]$/.test(value)) && flags.length === 1;
  if (/^(tag|for-each-ref)$/.test(name)) return !args.some(({ value }) => /raw|contents/.test(value));
  if (name === 'notes') return true;
  // A tag or hash may stand for a file.
  return isSummary && /^(show|diff|range-diff)$/.test(name) && operands.every(({ value }) => !mayBeFile(name, value));
}

const mayBeFile = (name: string, operand: string) =>
  operand.includes(':') || (name === 'show' && /^[\da-f]{4,64}$/i.test(operand));

/** A bundle such as `-zp`. */
function hasTextLetter(value: string): boolean {
  if (value.startsWith('--') || value.length < 3) return false;
  const sorted = sortArguments([knownArgument(value)], shortFlags);
  return typeof sorted === 'string' || [...sorted.flags].some((flag) => textFlags.has(flag));
}

const valueFlags = nameSet(
  '-C -c --git-dir --work-tree --namespace --super-prefix --exec-path --config-env --attr-source',
);

/** The directory and the subcommand; `isVague` if flags before it may mean another repository. */
function splitGlobal(args: readonly Argument[]): { directory: Argument; isVague: boolean; rest: readonly Argument[] } {
  let [directory, isVague, at] = [here, false, 0];
  for (; at < args.length; at++) {
    const flag = args[at] ?? here;
    if (!flag.value.startsWith('-') || flag.value === '--version') break;
    isVague ||= !flag.isKnown || /^(-c|--(git-dir|work-tree|config-env))/.test(flag.value);
    const value = valueFlags.has(flag.value) ? args[++at] : undefined;
    if (flag.value !== '-C' || !value) continue;
    isVague ||= !value.isKnown;
    directory = below(directory, value);
  }
  return { directory, isVague, rest: args.slice(at) };
}

function below(directory: Argument, path: Argument): Argument {
  const isAlone = directory === here || path.value.startsWith('/');
  return isAlone ? path : knownArgument(`${directory.value}/${path.value}`);
}

/** The operands before a `--` and, if there is one, the paths after it. */
function splitOperands(args: readonly Argument[]): { operands: Argument[]; paths?: readonly Argument[] } {
  const end = args.findIndex(({ value }) => value === '--');
  const before = (end === -1 ? args : args.slice(0, end)).filter(({ value }) => !/^-./.test(value));
  return { operands: before, ...(end !== -1 && { paths: args.slice(end + 1) }) };
}

const isPlainPath = ({ value, isKnown }: Argument) => isKnown && !/^:|[*?[\\]/.test(value);
