import { program } from './program-spec.js';
import type { Judge } from './read-arguments.js';

const info = '--help --version';
const free = { isFree: true };

/** Programs that tell about the machine and what runs on it. */
export const systemPrograms: Record<string, Judge> = {
  df: program(
    `-ahHiklPTv -B: -t: -x: --all --block-size= --human-readable --si --inodes --local --portability --print-type --total --type= --output=? ${info}`,
    'paths',
  ),
  // BSD style letters come without a dash.
  ps: program(
    '-AaCdefFgGHjklLMNopPqrsStTuUVwxyZ -o: -p: -C: -u: -U: -t: --forest --headers --no-headers --sort= --format= --pid= --ppid= --user= --cols= --width= --help --version',
    'text',
    {
      // The letter e without a dash shows the environment of every process.
      refuse: ({ operands, values }) =>
        operands.every(({ value }) => /^[a-df-zA-Z]+$|^[\d,]+$/.test(value)) &&
        values.every(({ value }) => value.isKnown && !/env/.test(value.value))
          ? undefined
          : 'it could show the environment of other programs',
    },
  ),
  pgrep: program(
    '-acfilnovwx -d: -P: -u: -U: -g: -G: -t: --list-name --list-full --full --exact --newest --oldest --count --ignore-case --parent= --euid=',
    'text',
  ),
  pidof: program('-sxq -o: -S:', 'text'),
  pstree: program('-aAcglnNpstTuU -H:', 'text'),
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
      refuse: ({ operands }) =>
        operands.every(({ value }) => value.startsWith('+')) ? undefined : 'an operand without + sets the clock',
    },
  ),
  cal: program('-13jmsy', 'text'),
  locale: program('-ackmv --all-locales --charmaps', 'text'),
  getconf: program('-a -v:', 'text'),
  printenv: program('-0 --null --help --version', 'text', free),
  tty: program('-s', 'none'),
  which: program('-as --all', 'text'),
  whereis: program('-bmsul', 'text'),
};
