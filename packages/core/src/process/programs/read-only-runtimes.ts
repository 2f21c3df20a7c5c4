import { forNames, nameSet } from './name-set.js';
import { here, type Judge, program, subcommands } from './read-arguments.js';

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
