import { here, onlyWith, program, subcommands } from './program-spec.js';
import type { Judge } from './read-arguments.js';

const inProject =
  (judge: Judge): Judge =>
  (args) => ({ ...judge(args), npmProjects: [here] });

const npmList = inProject(
  program('-aglp --all --depth= --global --json --long --parseable --omit= --include= --prod --dev --link', 'text'),
);

/** Programs that run code: only with the arguments that make them say what they are. */
export const runtimes: Record<string, Judge> = {
  node: onlyWith('--version', '-v', '--help'),
  deno: onlyWith('--version', '-V'),
  bun: onlyWith('--version', '-v'),
  python: onlyWith('--version', '-V', '-VV'),
  python3: onlyWith('--version', '-V', '-VV'),
  ruby: onlyWith('--version', '-v'),
  perl: onlyWith('--version', '-v'),
  php: onlyWith('--version', '-v'),
  java: onlyWith('-version', '--version'),
  javac: onlyWith('-version', '--version'),
  gcc: onlyWith('--version', '-dumpversion', '-dumpmachine'),
  'g++': onlyWith('--version', '-dumpversion'),
  clang: onlyWith('--version'),
  cmake: onlyWith('--version'),
  make: onlyWith('--version', '-v'),
  curl: onlyWith('--version', '-V'),
  wget: onlyWith('--version', '-V'),
  tar: onlyWith('--version'),
  bash: onlyWith('--version'),
  docker: onlyWith('--version', '-v'),
  pip: onlyWith('--version', '-V'),
  pip3: onlyWith('--version', '-V'),
  npm: subcommands({
    '--version': program('', 'none'),
    '-v': program('', 'none'),
    ls: npmList,
    list: npmList,
    root: inProject(program('-g --global', 'none')),
    prefix: inProject(program('-g --global', 'none')),
  }),
};
