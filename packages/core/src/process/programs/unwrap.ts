import { unknownPart } from '../shell/command-analysis.js';
import type { Argument } from '../shell/expand-word.js';
import { flagList, sortArguments } from './read-arguments.js';
import { unwrapFind } from './unwrap-find.js';
import { isLoader, looseWrappers, runners, textFlags, type Unwrapped, type Wrapper, wrappers } from './wrappers.js';

/** How much there is to read in it. */
export const workOf = ({ commands, scripts }: Unwrapped): number =>
  commands.reduce((sum, words) => sum + words.length * 4, 0) + scripts.reduce((sum, text) => sum + text.length, 0);

/** The commands inside a wrapper; `undefined` when the program runs no other. */
export function unwrap(name: string, args: readonly Argument[], input?: Argument): Unwrapped | undefined {
  if (name === 'xargs') return unwrapXargs(args, input);
  const special = specialWrappers.get(shells.has(name) ? 'sh' : name);
  if (special) return special(args);
  if (looseWrappers.has(name) || isLoader(name)) return anyOf(args);
  const at = args.findIndex(({ value }) => runners.get(name)?.includes(value));
  if (at !== -1) return anyOf(args.slice(at + 1));
  const scripts = textsAmong(args, textFlags.get(name));
  if (scripts.length > 0) return { ...opaque, scripts };
  const wrapper = wrappers.get(name);
  return wrapper && unwrapPlain(args, wrapper);
}

/** The values of flags that take a command, attached or as the next word. */
function textsAmong(args: readonly Argument[], flag: RegExp | undefined): string[] {
  return args.flatMap(({ value }, at) => {
    if (!flag?.test(value)) return [];
    const attached = value.replace(flag, '');
    return attached === '' ? args.slice(at + 1, at + 2).map((next) => next.value) : [attached];
  });
}

const known = (value: string): Argument => ({ value, text: value, isKnown: true, isOpen: false });
const opaque = { commands: [], scripts: [], isTransparent: false };
const specialWrappers: ReadonlyMap<string, (args: readonly Argument[]) => Unwrapped | undefined> = new Map(
  Object.entries({
    find: unwrapFind,
    sh: unwrapShell,
    env: unwrapEnv,
    git: unwrapGit,
    fd: unwrapFd,
    fdfind: unwrapFd,
    printf: unwrapQuoted,
    test: unwrapQuoted,
    '[': unwrapQuoted,
    alias: (args: readonly Argument[]) => ({
      ...opaque,
      scripts: args.map(({ value }) => value.replace(/^[^=]*=/, '')),
    }),
    '.': unwrapSource,
    source: unwrapSource,
    mapfile: callback,
    readarray: callback,
    compgen: callback,
    complete: callback,
    // `hash -p file name` makes a name stand for a program.
    hash: (args: readonly Argument[]) => ({ ...opaque, commands: args.map((word) => [word, someWords]) }),
    // They read jobs for later from stdin.
    at: () => ({ ...opaque, commands: [[someWords]] }),
    batch: () => ({ ...opaque, commands: [[someWords]] }),
    let: evaluated,
    declare: evaluated,
    typeset: evaluated,
    local: evaluated,
    readonly: evaluated,
    unset: evaluated,
    read: evaluated,
    egrep: (args: readonly Argument[]) => ({
      ...opaque,
      commands: [[known('grep'), known('-E'), ...args]],
      isTransparent: true,
    }),
    fgrep: (args: readonly Argument[]) => ({
      ...opaque,
      commands: [[known('grep'), known('-F'), ...args]],
      isTransparent: true,
    }),
    busybox: (args: readonly Argument[]) => ({ ...opaque, commands: [[...args]] }),
    toybox: (args: readonly Argument[]) => ({ ...opaque, commands: [[...args]] }),
    eval: (args: readonly Argument[]) => ({ ...opaque, scripts: [textOf(args)] }),
    trap: (args: readonly Argument[]) => ({ ...opaque, scripts: args.filter(isOperand).map(({ value }) => value) }),
    // `command -v name` only looks the name up.
    command: (args: readonly Argument[]) =>
      /^-[vV]$/.test(args[0]?.value ?? '') ? undefined : unwrapPlain(args, { flags: '-p +', isTransparent: true }),
  }),
);

/** Builtins that evaluate subscripts: commands may hide in their quoted arguments. */
function evaluated(args: readonly Argument[]): Unwrapped {
  return { ...opaque, scripts: args.filter(({ value }) => /[$]\(|`/.test(value)).map(({ value }) => `: ${value}`) };
}

const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'fish', 'rbash']);

function unwrapPlain(
  args: readonly Argument[],
  { flags, skip = 0, skipped = /^/, isTransparent = false, takesText = false }: Wrapper,
): Unwrapped {
  const sorted = sortArguments(args, flagList(flags));
  if (typeof sorted === 'string') return anyOf(args);
  // A pattern before the command may expand to words that become the command.
  if (sorted.operands.slice(0, skip).some(({ isGlob, value }) => isGlob || !skipped.test(value))) return anyOf(args);
  const words = sorted.operands.slice(skip);
  const given = sorted.values.flatMap(({ flag, value: { value } }) => {
    if (/^(-c|--command|--call)$/.test(flag)) return [value];
    return flag === '-o' && /^\w+command[\s=]/i.test(value) ? [value.replace(/^\w+[\s=]+/, '')] : [];
  });
  if (!takesText) {
    const command = isTransparent ? words : words.slice(firstCommand(words));
    return {
      commands: command.length > 0 ? [command] : [],
      scripts: given,
      isTransparent: isTransparent && words.length > 0,
    };
  }
  // Also after the operand: `su root -c text`.
  const at = words.findIndex(({ value }) => /^(-c|--command)$/.test(value));
  const later = at === -1 ? [] : words.slice(at + 1, at + 2).map(({ value }) => value);
  const isText = words.length > 0;
  return {
    ...opaque,
    commands: isText ? [words] : [],
    scripts: [...given, ...later, ...(isText ? [textOf(words)] : [])],
  };
}

/** After variables that are set for it: `sudo A=b command`. */
function firstCommand(words: readonly Argument[]): number {
  const at = words.findIndex(({ value }) => !/^\w+=/.test(value));
  return at === -1 ? words.length : at;
}

const isOperand = ({ value }: Argument) => !value.startsWith('-');

/** Words as one text, without flags before them. */
function textOf(words: readonly Argument[]): string {
  const start = Math.max(0, words.findIndex(isOperand));
  return words
    .slice(start)
    .map(({ value }) => value)
    .join(' ');
}

/** After an unknown flag, any later word may be the command or a text with commands: deny rules check all of them. */
function anyOf(args: readonly Argument[]): Unwrapped {
  const values = args.map(({ value }) => value.replace(/^--?[\w-]+=|^(?:-\S*\s+)+/, ''));
  return {
    ...opaque,
    commands: tailsOf(args),
    scripts: values.filter((value, at) => /\s/.test(value) || value !== args[at]?.value),
  };
}

/** Every suffix that starts with a word that is not a flag. */
function tailsOf(args: readonly Argument[]): Argument[][] {
  const starts = [...args.keys()].filter((at) => args.slice(at, at + 1).some(isOperand));
  return starts.slice(0, 12).map((at) => args.slice(at));
}

const callbackFlags = flagList('-t -d: -n: -O: -s: -u: -C: -c: -F: -A: -G: -P: -S: -W: -X: -o: -abcdefgjksuvprDEI +');

/** Builtins that run the text given with -C. */
function callback(args: readonly Argument[]): Unwrapped {
  const sorted = sortArguments(args, callbackFlags);
  if (typeof sorted === 'string') return anyOf(args);
  return {
    ...opaque,
    scripts: sorted.values.filter(({ flag }) => /^-[CF]$/.test(flag)).map(({ value }) => value.value),
  };
}

/** What a shell reads from anything but a file on disk is known only at run time. */
const isNoFile = ({ value, isKnown }: Argument) => !isKnown || value === '-' || /^\/(dev|proc)\//.test(value);

function unwrapSource(args: readonly Argument[]): Unwrapped {
  const file = args.find(({ value }) => value !== '--');
  return file && !isNoFile(file) ? opaque : { ...opaque, commands: [[someWords]] };
}

function unwrapShell(args: readonly Argument[]): Unwrapped | undefined {
  if (args.length === 1 && args[0]?.value === '--version') return undefined;
  if (args.some(({ value }) => value.startsWith('--command'))) return anyOf(args);
  const { hasText, operands } = shellArguments(args);
  const [text] = operands;
  if (hasText && text) return { ...opaque, scripts: [text.value] };
  // Without a file it runs its stdin.
  return text && !isNoFile(text) ? opaque : { ...opaque, commands: [[someWords]] };
}

/** Options may stand between -c and the text, and take words of their own: `-co pipefail text`. */
function shellArguments(args: readonly Argument[]): { hasText: boolean; operands: Argument[] } {
  let hasText = false;
  for (let at = 0; at < args.length; at++) {
    const value = args[at]?.value ?? '';
    if (value === '--') return { hasText, operands: args.slice(at + 1) };
    if (!/^[-+]./.test(value)) return { hasText, operands: args.slice(at) };
    if (value.startsWith('--')) at += /^--(rcfile|init-file)$/.test(value) ? 1 : 0;
    else at += value.match(/o/gi)?.length ?? 0;
    hasText ||= /^-\w*c/.test(value);
  }
  return { hasText, operands: [] };
}

/** What `fd` runs for each file. */
function unwrapFd(args: readonly Argument[]): Unwrapped | undefined {
  const at = args.findIndex(({ value }) => fdExec.test(value));
  if (at === -1) return undefined;
  const [, attached = ''] = fdExec.exec(args[at]?.value ?? '') ?? [];
  return { ...opaque, commands: [[...(attached === '' ? [] : [known(attached)]), ...args.slice(at + 1)]] };
}

/** `-x`, after flags without a value, or with the name of the program attached. */
const fdExec = /^(?:-[HIuUsigalL0pqhV1]*[xX]|--exec(?:-batch)?(?:=|$))(.*)$/;

/** With -v these evaluate a subscript. */
function unwrapQuoted(args: readonly Argument[]): Unwrapped | undefined {
  return args.some(({ value }) => value === '-v') ? evaluated(args) : undefined;
}

const envFlags = flagList('-i0v -u: -C: -S: --ignore-environment --null --unset= --chdir= --split-string= --debug +');

function unwrapEnv(args: readonly Argument[]): Unwrapped | undefined {
  const sorted = sortArguments(args, envFlags);
  if (typeof sorted === 'string') return anyOf(args);
  const rest = sorted.operands.map(({ value }) => value).join(' ');
  const split = sorted.values
    .filter(({ flag }) => flag === '-S' || flag === '--split-string')
    .map(({ value }) => `env ${value.value.replace(/\\[_tnfrv]/g, ' ')} ${rest}`);
  // A lone `-` empties the environment.
  const start = sorted.operands.findIndex(({ value }) => value !== '-' && !/^[^=]+=/.test(value));
  const isPlain = sorted.flags.size === 0 && start === 0;
  // Without a command it prints the environment.
  if (args.length === 0) return { ...opaque, isTransparent: true };
  const words = start === -1 ? [] : sorted.operands.slice(start);
  return { commands: words.length > 0 ? [words] : [], scripts: split, isTransparent: isPlain };
}

const xargsFlags = flagList(
  '-0rtpx -a@ -d: -E: -I: -L: -n: -P: -s: --null --no-run-if-empty --verbose --max-args= --max-procs= --max-lines= --replace=? ' +
    '--delimiter= --arg-file=@ -i? -l? -e? +',
);

/** `input` describes the words from the pipe. */
function unwrapXargs(args: readonly Argument[], input?: Argument): Unwrapped {
  const sorted = sortArguments(args, xargsFlags);
  if (typeof sorted === 'string') return anyOf(args);
  const plainFlags = new Set(['-0', '--null', '-r', '--no-run-if-empty', '-n', '-P', '--max-args', '--max-procs']);
  const isNull = sorted.flags.has('-0') || sorted.flags.has('--null');
  const isPlain = isNull && input !== undefined && [...sorted.flags].every((flag) => plainFlags.has(flag));
  const words = sorted.operands.length > 0 ? sorted.operands : [known('echo')];
  return { commands: [[...words, (isPlain && input) || someWords]], scripts: [], isTransparent: isPlain };
}

const someWords: Argument = { value: unknownPart, text: '…', isKnown: false, isOpen: true };

/** Git subcommands that run a given command. */
function unwrapGit(args: readonly Argument[]): Unwrapped | undefined {
  const values = args.map(({ value }) => value);
  const scripts = values.flatMap((value, at) => gitText(value, values[at - 1] ?? '', values));
  const at = values.findIndex((value, index) => {
    if (value === 'run') return values[index - 1] === 'bisect';
    return value === 'foreach' || (value === '-x' && /\b(rebase|difftool)\b/.test(values.join(' ')));
  });
  if (at === -1) return scripts.length === 0 ? undefined : { ...opaque, scripts };
  return { ...opaque, commands: tailsOf(args.slice(at + 1)), scripts: [...scripts, values.slice(at + 1).join(' ')] };
}

/** Flags whose value is a command, and settings that name one. */
const gitFlag =
  /^--(?:exec?|upload-p\w*|receive-p\w*|extc\w*|open-f[\w-]*|(?:env|tree|index|parent|msg|commit|tag-name)-filter)(?:=|$)/;
const gitSetting =
  /^[\w.-]*(?:command|pager|editor|helper|textconv|program|cmd|askpass|fsmonitor|process|clean|smudge|driver|alias)[\w.-]*=!?/i;

/** The command in one word of a git command, such as `--exec=text`. */
function gitText(value: string, before: string, all: readonly string[]): string[] {
  if (before === '-c' && gitSetting.test(value)) return [value.replace(gitSetting, '')];
  if (!before.includes('=') && gitFlag.test(before)) return [value];
  if (gitFlag.test(value) && value.includes('=')) return [value.replace(gitFlag, '')];
  const runsText = (all.includes('rebase') && /^-x./.test(value)) || (all.includes('grep') && /^-O./.test(value));
  return runsText ? [value.slice(2)] : [];
}
