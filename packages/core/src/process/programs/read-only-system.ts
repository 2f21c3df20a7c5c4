import { forNames, nameSet } from './name-set.js';
import { here, type Judge, program, type SortedArguments, subcommands } from './read-arguments.js';

const info = '--help --version';
const free = { isFree: true };

/** Programs that print facts about the machine and its processes. */
export const systemPrograms: Record<string, Judge> = {
  df: program(
    `-ahHiklPTv -B: -t: -x: --all --block-size= --human-readable --si --inodes --local --portability --print-type --total --type= --output=? ${info}`,
    'paths',
  ),
  // Without flags that take a value in one style only. procps parses what it does not understand again as BSD letters.
  ps: program(
    '-AaefFHjlLuwxy -o: -p: --forest --headers --no-headers --sort= --format= --pid= --ppid= --user= --cols= --width= --help --version',
    'text',
    { refuse: showsEnvironment, why: 'it could show the environment of other programs' },
  ),
  pgrep: program(
    '-acfilnovwx -d: -P: -u: -U: -g: -G: -t: --list-name --list-full --full --exact --newest --oldest --count --ignore-case --parent= --euid=',
    'text',
  ),
  pidof: program('-sxq', 'text'),
  pstree: program('-aAcglnpstTuU -H:', 'text'),
  uptime: program(`-ps ${info}`, 'none'),
  free: program(`-bkmghltvw -s: -c: --bytes --kibi --mebi --gibi --human --si --total --wide ${info}`, 'none'),
  nproc: program('--all --ignore= --help --version', 'none'),
  lscpu: program('-abcJpey --json --parse=? --extended=? --help --version', 'none'),
  uname: program(
    '-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --operating-system --help --version',
    'none',
  ),
  arch: program(info, 'none'),
  hostname: program('', 'none'),
  whoami: program(info, 'none'),
  id: program(`-agGnruzZ --group --groups --name --real --user --zero ${info}`, 'text'),
  groups: program(info, 'text'),
  who: program('-abdHlmpqrstTu --help --version', 'none'),
  date: program(
    '-uIR -d: -r@ -I? --date= --reference=@ --utc --universal --iso-8601=? --rfc-3339= --rfc-email --debug --help --version',
    'text',
    {
      why: 'an operand without + sets the clock',
      refuse: ({ operands }) => !operands.every(({ value }) => value.startsWith('+')),
    },
  ),
  cal: program('-13jmsy', 'text'),
  locale: program('-ackv --all-locales', 'text'),
  getconf: program('-a', 'text'),
  printenv: program('-0 --null --help --version', 'text', free),
  tty: program('-s', 'none'),
  which: program('-as --all', 'text'),
  whereis: program('-bmsul', 'text'),
};

/** The BSD letter e shows the environment of every process; so does -e if ps parses its arguments a second time. */
function showsEnvironment({ flags, values, operands }: SortedArguments): boolean {
  const hasFormat = flags.has('-o') || flags.has('--format');
  const isMixed = hasFormat && [...flags].some((flag) => /^-[^eop-]$/.test(flag));
  const isParsedTwice = flags.has('-u') || flags.has('-x') || isMixed || operands.length > 0;
  return (
    (flags.has('-e') && isParsedTwice) ||
    !operands.every(({ value }) => /^[afjlruwxTH]+$|^[\d,]+$/.test(value)) ||
    !values.every(({ flag, value: { value, isKnown } }) =>
      flag === '-p' ? /^[\d,]+$/.test(value) : isKnown && !/env/.test(value),
    )
  );
}

const inProject =
  (judge: Judge): Judge =>
  (args) => ({ ...judge(args), npmProjects: [here] });

const npmList = inProject(
  program('-aglp --all --depth= --global --json --long --parseable --omit= --include= --prod --dev --link', 'text'),
);
const npmDirectory = inProject(program('-g --global', 'none'));

/** Programs that run code, and the flags with which they only print what they are. */
function onlyWith(flags: string, programs: string): [string, Judge][] {
  const allowed = nameSet(flags);
  return forNames(programs, ([first, ...others]) =>
    first?.isKnown && others.length === 0 && allowed.has(first.value) ? {} : { why: 'it can run code' },
  );
}

export const runtimes: [name: string, judge: Judge][] = [
  ...onlyWith('--version', 'clang cmake tar bash'),
  ...onlyWith('--version -v', 'bun ruby perl php make docker'),
  ...onlyWith('--version -v --help', 'node'),
  ...onlyWith('--version -V', 'deno curl wget pip pip3'),
  ...onlyWith('--version -V -VV', 'python python3'),
  ...onlyWith('--version -version', 'java javac'),
  ...onlyWith('--version -dumpversion', 'g++'),
  ...onlyWith('--version -dumpversion -dumpmachine', 'gcc'),
  [
    'npm',
    subcommands({
      '--version': program('', 'none'),
      '-v': program('', 'none'),
      ls: npmList,
      list: npmList,
      root: npmDirectory,
      prefix: npmDirectory,
    }),
  ],
];
