import { unknownPart } from './command-analysis.js';
import type { Argument } from './expand-word.js';
import { flagList, sortArguments } from './read-arguments.js';
import { findsOnlyFiles, isConjunction, splitFind } from './read-only-find.js';

/** What a program that runs another one would run. */
export interface Unwrapped {
  /** Words of the commands inside. */
  commands: Argument[][];
  /** Shell text inside, as of `sh -c`. */
  scripts: string[];
  /** The wrapper itself adds nothing, so that it is as harmless as what it runs. */
  isTransparent: boolean;
  /** The wrapper's own arguments, judged like any program's, when it also does something itself. */
  own?: Argument[];
}

/** How much there is to read in it. */
export const workOf = ({ commands, scripts }: Unwrapped): number =>
  commands.reduce((sum, words) => sum + words.length * 4, 0) + scripts.reduce((sum, text) => sum + text.length, 0);

/** The commands inside a wrapper; `undefined` when the program runs no other. */
export function unwrap(name: string, args: readonly Argument[], input?: Argument): Unwrapped | undefined {
  if (name === 'xargs') return unwrapXargs(args, input);
  const special = specialWrappers.get(shells.has(name) ? 'sh' : name);
  if (special) return special(args);
  const wrapper = wrappers.get(name);
  return wrapper && unwrapPlain(args, wrapper);
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
    eval: (args: readonly Argument[]) => ({ ...opaque, scripts: [args.map(({ value }) => value).join(' ')] }),
    trap: (args: readonly Argument[]) => ({ ...opaque, scripts: args.slice(0, 1).map(({ value }) => value) }),
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

interface Wrapper {
  flags: string;
  /** Operands of its own before the command. */
  skip?: number;
  /** What these look like; should they not, other versions of the program may take them for the command. */
  skipped?: RegExp;
  isTransparent?: boolean;
}

/** Programs that run the command given in their arguments. */
const wrappers: ReadonlyMap<string, Wrapper> = new Map(
  Object.entries<Wrapper>({
    timeout: {
      flags: '-k: -s: -v --kill-after= --signal= --foreground --preserve-status --verbose +',
      skip: 1,
      skipped: /^\d+(\.\d+)?[smhd]?$/,
      isTransparent: true,
    },
    nice: { flags: '-# -n: --adjustment= +', isTransparent: true },
    nohup: { flags: '+', isTransparent: true },
    stdbuf: { flags: '-i: -o: -e: --input= --output= --error= +', isTransparent: true },
    time: { flags: '-p -v --portability --verbose +', isTransparent: true },
    builtin: { flags: '+' },
    exec: { flags: '-cl -a: +' },
    setsid: { flags: '-cfw +' },
    ionice: { flags: '-c: -n: -t +' },
    chrt: { flags: '-bfiorm -T: -P: -D: +', skip: 1 },
    taskset: { flags: '-ac +', skip: 1 },
    sudo: {
      flags:
        '-AbEeHknPSis -u: -g: -h: -p: -C: -r: -t: -T: -D: -R: --preserve-env=? --user= --group= --login --non-interactive --stdin +',
    },
    doas: { flags: '-nsL -u: -C: +' },
    su: { flags: '-lmp -g: -G: -s: -c: +' },
    runuser: { flags: '-lmp -u: -g: -G: -s: -c: +' },
    chroot: { flags: '--userspec= --groups= --skip-chdir +', skip: 1 },
    unshare: { flags: '-imnpuUfrcC --fork --map-root-user --net --mount --pid --user --ipc --uts +' },
    nsenter: { flags: '-amuinpUCrZF -t: --target= --all +' },
    setpriv: { flags: '--reuid= --regid= --clear-groups --no-new-privs --init-groups +' },
    flock: { flags: '-exnosuF -w: -E: -c: +', skip: 1 },
    watch: { flags: '-bcdegtxC -n: --interval= --no-title +' },
    strace: { flags: '-cCdfFhiqrtTvVwxyzZ -e: -o: -p: -s: -u: -a: -E: +' },
    ltrace: { flags: '-cCfhiLrStTV -e: -o: -p: -s: -u: +' },
    script: { flags: '-aefq -c: +' },
    unbuffer: { flags: '-p +' },
    firejail: { flags: '--quiet --net= +' },
    bwrap: { flags: '+' },
    parallel: { flags: '-0jkqv -a: +' },
    entr: { flags: '-acdnprsz +' },
    npx: { flags: '-yq -p: -c: --yes --no --package= +' },
    caffeinate: { flags: '-dimsu +' },
    proxychains: { flags: '-q -f: +' },
    'systemd-run': { flags: '-tPGqdr -p: -u: --user --scope --pipe --wait +' },
    ssh: {
      flags: '-46AaCfGgKkMNnqsTtVvXxYy -i: -p: -l: -o: -F: -J: -L: -R: -D: -b: -c: -e: -m: -S: -W: -w: +',
      skip: 1,
    },
    faketime: { flags: '-fm +', skip: 1 },
    torsocks: { flags: '+' },
    gdb: { flags: '--args +' },
    valgrind: { flags: '+' },
    chronic: { flags: '-ev +' },
    ts: { flags: '+' },
  }),
);

function unwrapPlain(
  args: readonly Argument[],
  { flags, skip = 0, skipped = /^/, isTransparent = false }: Wrapper,
): Unwrapped {
  const sorted = sortArguments(args, flagList(flags));
  // With flags unknown to us any later word may be the command: deny rules look at all of them.
  if (typeof sorted === 'string') return { ...opaque, commands: tailsOf(args) };
  const scripts = sorted.values.filter(({ flag }) => flag === '-c').map(({ value }) => value.value);
  const words = sorted.operands.slice(skip);
  // A pattern before the command may bring along words that are taken for it.
  if (sorted.operands.slice(0, skip).some(({ isGlob, value }) => isGlob || !skipped.test(value)))
    return { ...opaque, commands: tailsOf(args) };
  return { commands: words.length > 0 ? [words] : [], scripts, isTransparent: isTransparent && words.length > 0 };
}

/** Every suffix that starts with a word that is no flag. */
function tailsOf(args: readonly Argument[]): Argument[][] {
  return args.slice(0, 8).flatMap(({ value }, index) => (value.startsWith('-') ? [] : [args.slice(index)]));
}

function unwrapShell(args: readonly Argument[]): Unwrapped | undefined {
  if (args.length === 1 && args[0]?.value === '--version') return undefined;
  const at = args.findIndex(({ value }) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(value));
  // Options may stand between -c and the text.
  const [text] = args.slice(at + 1).filter(({ value }) => !/^[-+]/.test(value));
  if (at !== -1 && text) return { ...opaque, scripts: [text.value] };
  // Without a file it runs whatever its input says.
  return text ? opaque : { ...opaque, commands: [[someWords]] };
}

/** What `fd` runs for each file. */
function unwrapFd(args: readonly Argument[]): Unwrapped | undefined {
  const at = args.findIndex(({ value }) => /^(-[xX]|--exec|--exec-batch)$/.test(value));
  return at === -1 ? undefined : { ...opaque, commands: [args.slice(at + 1)] };
}

/** With -v these evaluate a subscript. */
function unwrapQuoted(args: readonly Argument[]): Unwrapped | undefined {
  return args.some(({ value }) => value === '-v') ? evaluated(args) : undefined;
}

const envFlags = flagList('-i0v -u: -C: -S: --ignore-environment --null --unset= --chdir= --split-string= --debug +');

function unwrapEnv(args: readonly Argument[]): Unwrapped | undefined {
  const sorted = sortArguments(args, envFlags);
  if (typeof sorted === 'string') return { ...opaque, commands: tailsOf(args) };
  const split = sorted.values
    .filter(({ flag }) => flag === '-S' || flag === '--split-string')
    .map(({ value }) => value.value);
  const start = sorted.operands.findIndex(({ value }) => !/^[^=]+=/.test(value));
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

/** `input` is what the words from the pipe are known to be. */
function unwrapXargs(args: readonly Argument[], input?: Argument): Unwrapped {
  const sorted = sortArguments(args, xargsFlags);
  if (typeof sorted === 'string') return { ...opaque, commands: tailsOf(args) };
  const plainFlags = new Set(['-0', '--null', '-r', '--no-run-if-empty', '-n', '-P', '--max-args', '--max-procs']);
  const isNull = sorted.flags.has('-0') || sorted.flags.has('--null');
  const isPlain = isNull && input !== undefined && [...sorted.flags].every((flag) => plainFlags.has(flag));
  const words = sorted.operands.length > 0 ? sorted.operands : [known('echo')];
  return { commands: [[...words, (isPlain && input) || someWords]], scripts: [], isTransparent: isPlain };
}

const someWords: Argument = { value: unknownPart, text: '…', isKnown: false, isOpen: true };

/** Subcommands of git that run what they are told to. */
function unwrapGit(args: readonly Argument[]): Unwrapped | undefined {
  const values = args.map(({ value }) => value);
  const isRebase = values.includes('rebase');
  const at = values.findIndex((value, index) => {
    if (value === 'run') return values[index - 1] === 'bisect';
    return value === 'foreach' || (isRebase && (value === '--exec' || value === '-x'));
  });
  if (at === -1) return undefined;
  return { ...opaque, commands: tailsOf(args.slice(at + 1)), scripts: [values.slice(at + 1).join(' ')] };
}

const execFlags = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const isExec = ({ value }: Argument) => execFlags.has(value);

function unwrapFind(args: readonly Argument[]): Unwrapped | undefined {
  const { roots, expression } = splitFind(args);
  const commands: Argument[][] = [];
  const own: Argument[] = [];
  let isTransparent = findsOnlyFiles(expression.slice(0, expression.findIndex(isExec)));
  for (let index = 0; index < expression.length; index++) {
    const part = expression[index];
    if (!part) break;
    if (!isExec(part)) {
      own.push(part);
      continue;
    }
    const length = expression
      .slice(index + 1)
      .findIndex(({ value }, at, rest) => value === ';' || (value === '+' && rest[at - 1]?.value === '{}'));
    const words = expression.slice(index + 1, length === -1 ? undefined : index + 1 + length);
    isTransparent &&=
      part.value === '-exec' && length !== -1 && words.every(({ value }) => value === '{}' || !value.includes('{}'));
    commands.push(words.map((word) => (word.value === '{}' ? foundBelow(roots) : word)));
    index += words.length + 1;
  }
  if (commands.length === 0) return undefined;
  return {
    commands,
    scripts: [],
    isTransparent: isTransparent && isConjunction(own) && roots.length === 1,
    own: [...roots, ...own],
  };
}

/** A word for the files a search finds: something below its only root. */
export function foundBelow(roots: readonly Argument[]): Argument {
  const [root] = roots;
  const isPlain = root !== undefined && roots.length === 1 && root.isKnown && !root.value.startsWith('-');
  const unknown: Argument = { value: unknownPart, text: '{}', isKnown: false, isOpen: false, isGlob: true };
  return isPlain ? { ...unknown, value: `${root.value}/${unknownPart}`, below: root } : unknown;
}
