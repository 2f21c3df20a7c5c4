import { unknownPart } from '../shell/command-analysis.js';
import { type Argument, knownArgument } from '../shell/expand-word.js';
import { forNames, nameSet } from './name-set.js';
import { flagList, sortArguments } from './read-arguments.js';
import { unwrapFind } from './unwrap-find.js';
import { looseWrappers, runners, textFlags, type Unwrapped, type Wrapper, wrappers } from './wrappers.js';

/** How much there is to parse in it. */
export const workOf = ({ commands, scripts }: Unwrapped): number =>
  commands.reduce((sum, words) => sum + words.length * 4, 0) + scripts.reduce((sum, text) => sum + text.length, 0);

/** The commands inside a wrapper; `undefined` if the program runs no other. */
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

/** The dynamic linker, which has a different name on each system. */
const isLoader = (name: string) => /^ld(64)?([-.].*)?\.so[.\d]*$/.test(name);

/** The values of flags that take a command, attached or as the next word. */
function textsAmong(args: readonly Argument[], flag: RegExp | undefined): string[] {
  return args.flatMap(({ value }, at) => {
    if (!flag?.test(value)) return [];
    const attached = value.replace(flag, '');
    return attached === '' ? args.slice(at + 1, at + 2).map((next) => next.value) : [attached];
  });
}

type Unwrap = (args: readonly Argument[]) => Unwrapped | undefined;

const opaque = { commands: [], scripts: [], isTransparent: false };
const jobsFromStdin: Unwrap = () => ({ ...opaque, commands: [[someWords]] });
const applet: Unwrap = (args) => ({ ...opaque, commands: [[...args]] });
const grepWith =
  (flag: string): Unwrap =>
  (args) => ({ ...opaque, commands: [[knownArgument('grep'), knownArgument(flag), ...args]], isTransparent: true });

const specialWrappers: ReadonlyMap<string, Unwrap> = new Map<string, Unwrap>([
  ['find', unwrapFind],
  ['sh', unwrapShell],
  ['env', unwrapEnv],
  ['git', unwrapGit],
  ...forNames('fd fdfind', unwrapFd),
  ...forNames('printf test [', unwrapQuoted),
  ['alias', (args) => ({ ...opaque, scripts: args.map(({ value }) => value.replace(/^[^=]*=/, '')) })],
  ...forNames('. source', unwrapSource),
  ...forNames('mapfile readarray compgen complete', callback),
  // `hash -p file name` makes a name stand for a program.
  ['hash', (args) => ({ ...opaque, commands: args.map((word) => [word, someWords]) })],
  ...forNames('at batch', jobsFromStdin),
  ...forNames('let declare typeset local readonly unset read', evaluated),
  ['egrep', grepWith('-E')],
  ['fgrep', grepWith('-F')],
  ...forNames('busybox toybox', applet),
  ['eval', (args) => ({ ...opaque, scripts: [textOf(args)] })],
  ['trap', (args) => ({ ...opaque, scripts: args.filter(isOperand).map(({ value }) => value) })],
  // `command -v name` only looks the name up.
  [
    'command',
    (args) =>
      /^-[vV]$/.test(args[0]?.value ?? '') ? undefined : unwrapPlain(args, { flags: '-p +', isTransparent: true }),
  ],
]);

/** Builtins that evaluate subscripts: their quoted arguments may contain commands. */
function evaluated(args: readonly Argument[]): Unwrapped {
  return { ...opaque, scripts: args.filter(({ value }) => /[$]\(|`/.test(value)).map(({ value }) => `: ${value}`) };
}

const shells = nameSet('sh bash dash zsh ksh mksh ash fish rbash');

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
    const command = isTransparent ? words : afterAssignments(words);
    const commands = command.length > 0 ? [command] : [];
    return { commands, scripts: given, isTransparent: isTransparent && words.length > 0 };
  }
  // The text may come after the operand: `su root -c text`.
  const at = words.findIndex(({ value }) => /^(-c|--command)$/.test(value));
  const later = at === -1 ? [] : words.slice(at + 1, at + 2).map(({ value }) => value);
  if (words.length === 0) return { ...opaque, scripts: given };
  return { ...opaque, commands: [words], scripts: [...given, ...later, textOf(words)] };
}

/** The command in `sudo A=b command`. */
function afterAssignments(words: readonly Argument[]): Argument[] {
  const at = words.findIndex(({ value }) => !/^\w+=/.test(value));
  return at === -1 ? [] : words.slice(at);
}

const isOperand = ({ value }: Argument) => !value.startsWith('-');

/** The words as one text, without the flags before them. */
function textOf(words: readonly Argument[]): string {
  const values = words.map(({ value }) => value);
  return values.slice(Math.max(0, words.findIndex(isOperand))).join(' ');
}

/** After an unknown flag, any later word may be the command or a text with commands: deny rules check all of them. */
function anyOf(args: readonly Argument[]): Unwrapped {
  const values = args.map(({ value }) => value.replace(/^--?[\w-]+=|^(?:-\S*\s+)+/, ''));
  const scripts = values.filter((value, at) => /\s/.test(value) || value !== args[at]?.value);
  return { ...opaque, commands: tailsOf(args), scripts };
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
  const scripts = sorted.values.filter(({ flag }) => /^-[CF]$/.test(flag)).map(({ value }) => value.value);
  return { ...opaque, scripts };
}

/** What a shell reads from anything other than a file on disk is known only at run time. */
const isNotOnDisk = ({ value, isKnown }: Argument) => !isKnown || value === '-' || /^\/(dev|proc)\//.test(value);

function unwrapSource(args: readonly Argument[]): Unwrapped {
  const file = args.find(({ value }) => value !== '--');
  return file && !isNotOnDisk(file) ? opaque : { ...opaque, commands: [[someWords]] };
}

function unwrapShell(args: readonly Argument[]): Unwrapped | undefined {
  if (args.length === 1 && args[0]?.value === '--version') return undefined;
  if (args.some(({ value }) => value.startsWith('--command'))) return anyOf(args);
  const { hasText, operands } = shellArguments(args);
  const [text] = operands;
  if (hasText && text) return { ...opaque, scripts: [text.value] };
  // Without a file it runs the commands on stdin.
  return text && !isNotOnDisk(text) ? opaque : { ...opaque, commands: [[someWords]] };
}

/** There may be options between -c and the text, and they may take values: `-co pipefail text`. */
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
  return { ...opaque, commands: [[...(attached === '' ? [] : [knownArgument(attached)]), ...args.slice(at + 1)]] };
}

/** `-x`, possibly after flags without a value, or with the name of the program attached. */
const fdExec = /^(?:-[HIuUsigalL0pqhV1]*[xX]|--exec(?:-batch)?(?:=|$))(.*)$/;

/** Builtins that evaluate a subscript with -v. */
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

const plainXargsFlags = nameSet('-0 --null -r --no-run-if-empty -n -P --max-args --max-procs');

/** `input` stands for the words from the pipe. */
function unwrapXargs(args: readonly Argument[], input?: Argument): Unwrapped {
  const sorted = sortArguments(args, xargsFlags);
  if (typeof sorted === 'string') return anyOf(args);
  const isNull = sorted.flags.has('-0') || sorted.flags.has('--null');
  const isPlain = isNull && input !== undefined && [...sorted.flags].every((flag) => plainXargsFlags.has(flag));
  const words = sorted.operands.length > 0 ? sorted.operands : [knownArgument('echo')];
  return { commands: [[...words, (isPlain && input) || someWords]], scripts: [], isTransparent: isPlain };
}

const someWords: Argument = { value: unknownPart, text: '…', isKnown: false, isOpen: true };

/** The commands in the arguments of git. */
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
