import { program, refuseMoreThan } from './program-spec.js';
import type { Judge, SortedArguments } from './read-arguments.js';
import { judgeAwk } from './read-only-awk.js';
import { judgePrintf, judgeTest } from './read-only-builtins.js';
import { judgeFind } from './read-only-find.js';
import { judgeGit } from './read-only-git.js';
import { runtimes } from './read-only-runtimes.js';
import { judgeSed } from './read-only-sed.js';
import { systemPrograms } from './read-only-system.js';

/**
 * Programs and builtins known to change nothing, each with the flags it is known to change nothing with. A flag that
 * is missing here asks; so does an abbreviation of one that is listed. For the notation see `flagList`.
 */
export function readOnlyJudge(name: string): Judge | undefined {
  return programs.get(name);
}

const free = { isFree: true };
const info = '--help --version';

/** Programs of binutils read more flags, such as one that loads a plugin, from the file behind an @. */
const noArgumentFile = {
  refuse: ({ operands, values }: SortedArguments) =>
    [...operands, ...values.map(({ value }) => value)].some(({ value }) => value.startsWith('@'))
      ? 'the file behind an @ holds more flags'
      : undefined,
};

/** Whether two files differ is no secret; how they differ may be, and what the names are further below. */
function diffFollows({ flags }: SortedArguments): boolean {
  const has = (...names: string[]) => names.some((name) => flags.has(name));
  return !has('--no-dereference') && (has('-r', '--recursive') || !has('-q', '--brief'));
}

const fileReaders: Record<string, Judge> = {
  cat: program(
    `-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs ${info}`,
    'paths',
    free,
  ),
  head: program(
    `-# -n: -c: -qvz --lines= --bytes= --quiet --silent --verbose --zero-terminated ${info}`,
    'paths',
    free,
  ),
  tail: program(
    `-# -n: -c: -qvz --lines= --bytes= --quiet --silent --verbose --zero-terminated ${info}`,
    'paths',
    free,
  ),
  tac: program(`-br -s: --before --regex --separator= ${info}`, 'paths', free),
  nl: program(`-b: -d: -f: -h: -i: -l: -n: -s: -v: -w: -p ${info}`, 'paths', free),
  rev: program(info, 'paths', free),
  wc: program(`-clmLw --bytes --chars --lines --words --max-line-length ${info}`, 'paths', free),
  cut: program(
    `-b: -c: -d: -f: -nsz --bytes= --characters= --delimiter= --fields= --complement --only-delimited --output-delimiter= ${info}`,
    'paths',
    free,
  ),
  paste: program(`-d: -sz --delimiters= --serial ${info}`, 'paths', free),
  fold: program(`-bs -w: --bytes --spaces --width= ${info}`, 'paths', free),
  fmt: program(`-cstu -w: -g: --width= ${info}`, 'paths', free),
  expand: program(`-i -t: --initial --tabs= ${info}`, 'paths', free),
  unexpand: program(`-a -t: --all --first-only --tabs= ${info}`, 'paths', free),
  column: program(
    `-txeJLd -s: -o: -c: -N: -l: -H: -R: -W: -E: --table --separator= --output-separator= --columns= --json --table-columns= ${info}`,
    'paths',
    free,
  ),
  comm: program(`-123z --check-order --nocheck-order --output-delimiter= --total ${info}`, 'paths', free),
  join: program(
    `-i -a: -e: -1: -2: -j: -o: -t: -v: -z --ignore-case --check-order --nocheck-order --header ${info}`,
    'paths',
    {
      isFree: true,
      // To some, any other -a has no value.
      refuse: ({ values }) =>
        values.every(({ flag, value }) => flag !== '-a' || /^[12]$/.test(value.value)) ? undefined : '-a takes 1 or 2',
    },
  ),
  cmp: program(
    `-bls -i: -n: --print-bytes --verbose --quiet --silent --bytes= --ignore-initial= ${info}`,
    'paths',
    free,
  ),
  diff: program(
    `-abBcdeEfHinNpqrstTuwy -# -C: -U: -F: -I: -L: -W: -x: -X@ -S: --brief --report-identical-files --unified=? --context=? ` +
      `--side-by-side --suppress-common-lines --width= --recursive --no-dereference --new-file --ignore-case ` +
      `--ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-trailing-space --ignore-tab-expansion ` +
      `--strip-trailing-cr --text --minimal --speed-large-files --exclude= --exclude-from=@ --label= --color=? ` +
      `--show-c-function --show-function-line= --expand-tabs --ed --normal --left-column --tabsize= ${info}`,
    'paths',
    {
      isSearch: true,
      refuse: (args) =>
        ['-r', '--recursive'].some((flag) => args.flags.has(flag)) && diffFollows(args)
          ? 'it follows links inside the directories'
          : undefined,
      followsLinks: diffFollows,
    },
  ),
  // The second operand of uniq and xxd is a file they write, even one that looks like a flag.
  uniq: program(
    `+ -cdDiuz -f: -s: -w: --count --repeated --unique --ignore-case --skip-fields= --skip-chars= --check-chars= ${info}`,
    'paths',
    refuseMoreThan(1, 'its second operand is a file it writes'),
  ),
  xxd: program(
    '1 + -a -b -e -E -i -p -ps -u -c: -g: -l: -s: -o: -n: -v',
    'paths',
    refuseMoreThan(1, 'its second operand is a file it writes'),
  ),
  // Without -o, which writes, --compress-program, which runs, and --files0-from, which reads what a list names.
  sort: program(
    `-bcCdfghiMmnRrsuVz -k: -t: -S: --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort ` +
      `--human-numeric-sort --numeric-sort --random-sort --reverse --version-sort --sort= --key= --field-separator= ` +
      `--unique --stable --zero-terminated --check=? --merge --parallel= --debug ${info}`,
    'paths',
  ),
  shuf: program('-n: -i: -erz --head-count= --input-range= --echo --repeat', 'paths'),
  tsort: program(info, 'paths', free),
  od: program(
    `-abcdfiloshvx -A: -j: -N: -t: -w? -S: --address-radix= --format= --read-bytes= --skip-bytes= --width=? ${info}`,
    'paths',
    free,
  ),
  hexdump: program('-bcCdovx -e: -n: -s:', 'paths'),
  strings: program(
    `-afwo -# -n: -t: -e: --all --print-file-name --bytes= --radix= --encoding= ${info}`,
    'paths',
    noArgumentFile,
  ),
  file: program(
    `-bhiLkNrsv0 -F: --brief --dereference --no-dereference --mime --mime-type --mime-encoding --extension ${info}`,
    'paths',
  ),
  stat: program(`-Lft -c: --dereference --file-system --format= --printf= --terse ${info}`, 'paths', free),
  readlink: program(
    `-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero ${info}`,
    'paths',
    free,
  ),
  realpath: program(
    `-eLmPqsz --canonicalize-existing --canonicalize-missing --relative-to=@ --relative-base=@ --no-symlinks --zero ${info}`,
    'paths',
    free,
  ),
  basename: program(`-az -s: --multiple --suffix= --zero ${info}`, 'text', free),
  dirname: program(`-z --zero ${info}`, 'text', free),
  md5sum: program(`-btz --binary --text --tag --zero ${info}`, 'paths'),
  cksum: program(`-z -a: -l: --algorithm= --untagged --raw ${info}`, 'paths'),
  base64: program(`-di -w: --decode --ignore-garbage --wrap= ${info}`, 'paths', free),
  // Without -f, -L and modules, which read other files.
  jq: program(
    `-acCenrsSMjR --arg== --argjson== --compact-output --null-input --raw-output --raw-input --slurp --sort-keys ` +
      `--exit-status --tab --indent= --color-output --monochrome-output --join-output --stream --seq --unbuffered ${info}`,
    'filter',
    {
      refuse: ({ operands }) =>
        operands.some(
          ({ value, isKnown, pattern, isGlob }, index) =>
            (!isKnown && !pattern) || (isGlob && index === 0) || /\b(import|include|modulemeta)\b/.test(value),
        )
          ? 'its filter could read other files'
          : undefined,
    },
  ),
};

const grepFlags =
  '-EFGPivwxclLqsobHhnTzZraIUy -# -e: -f@ -m: -A: -B: -C: -d: -D: --extended-regexp --fixed-strings --basic-regexp ' +
  '--perl-regexp --regexp= --file=@ --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count ' +
  '--color=? --colour=? --files-without-match --files-with-matches --max-count= --only-matching --quiet --silent ' +
  '--no-messages --byte-offset --with-filename --no-filename --label= --line-number --initial-tab --null --text ' +
  '--after-context= --before-context= --context=? --binary-files= --directories= --devices= --exclude= ' +
  `--exclude-from=@ --exclude-dir= --include= --recursive --line-buffered --null-data -V ${info}`;

// Without -x and -X, which run a program, -l, which runs ls, and -L, which follows links.
const fd = program(
  '-HIsiagFpu01 -e: -E: -t: -d: -S: -c: -j: --hidden --no-ignore --no-ignore-vcs --case-sensitive --ignore-case --glob --regex ' +
    '--fixed-strings --absolute-path --full-path --extension= --exclude= --type= --max-depth= --min-depth= ' +
    `--exact-depth= --size= --changed-within= --changed-before= --max-results= --print0 --color= --threads= ${info}`,
  'pattern',
);

const searches: Record<string, Judge> = {
  // Without -R, which follows symbolic links out of the directory.
  grep: program(grepFlags, 'lines', {
    refuse: ({ flags, values }) =>
      flags.has('--context') && !values.some(({ flag }) => flag === '--context')
        ? 'the number after --context may be the pattern'
        : undefined,
  }),
  // Without --pre and --hostname-bin, which run a program, -z, which runs unpackers, and -L, which follows links.
  rg: program(
    '-aFiIlnNoPqsSuUvVwxcHh0.p -# -e: -f@ -g: -t: -T: -m: -A: -B: -C: -d: -E: -j: -M: -r: --after-context= --before-context= ' +
      '--context= --case-sensitive --color= --colors= --column --no-column --count --count-matches --crlf --encoding= --engine= ' +
      '--file=@ --files --files-with-matches --files-without-match --fixed-strings --glob= --iglob= --heading ' +
      '--no-heading --hidden --no-hidden --ignore-case --ignore-file=@ --invert-match --json --line-number ' +
      '--no-line-number --line-regexp --max-columns= --max-columns-preview --max-count= --max-depth= --maxdepth= ' +
      '--max-filesize= --multiline --multiline-dotall --no-config --no-filename --no-ignore --no-ignore-vcs ' +
      '--no-ignore-parent --no-ignore-dot --no-ignore-global --no-messages --null --null-data --one-file-system ' +
      '--only-matching --passthru --pcre2 --pretty --quiet --regexp= --replace= --smart-case --sort= --sortr= ' +
      '--stats --text --threads= --trim --type= --type-not= --type-list --type-add= --unrestricted --vimgrep ' +
      `--with-filename --word-regexp --no-unicode --line-buffered ${info}`,
    'pattern',
  ),
  // Links are shown, not followed: without -L of ls and du, -l of tree. tree takes values from later words, bundled or not.
  ls: program(
    `-1aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ --all --almost-all --author --block-size= --classify=? --color=? ` +
      `--directory --full-time --file-type --format= --group-directories-first --hide= --hyperlink=? --human-readable ` +
      `--si --inode --ignore= --indicator-style= --literal --no-group --numeric-uid-gid --quote-name --quoting-style= ` +
      `--recursive --reverse --show-control-chars --size --sort= --time= --time-style= --tabsize= --width= --zero ${info}`,
    'tree',
    free,
  ),
  tree: program(
    '1 -a -d -f -i -q -p -u -g -s -h -D -F -v -t -c -r -n -C -J -X -L: -P: -I: --dirsfirst --filesfirst --noreport --prune --gitignore --matchdirs --filelimit= --charset= --du --si --inodes --device --sort= --ignore-case --timefmt= --help --version',
    'tree',
  ),
  du: program(
    `-0abcDhHklmPsSx -d: -t: -B: -X@ --all --apparent-size --block-size= --bytes --total --max-depth= --human-readable ` +
      `--inodes --si --summarize --separate-dirs --threshold= --time=? --time-style= --exclude= --exclude-from=@ --one-file-system ${info}`,
    'tree',
  ),
  find: judgeFind,
  sed: judgeSed,
  awk: judgeAwk,
};

const values: Record<string, Judge> = {
  echo: program('-neE', 'text', free),
  printf: judgePrintf,
  test: judgeTest,
  '[': judgeTest,
  pwd: program('-LP', 'none'),
  cd: program('', 'paths'),
  true: program('', 'text', free),
  false: program('', 'text', free),
  ':': program('', 'text', free),
  sleep: program('', 'text'),
  seq: program(`-w -f: -s: --equal-width --format= --separator= ${info}`, 'text'),
  yes: program(info, 'text', free),
  tr: program(`-cCdst --complement --delete --squeeze-repeats --truncate-set1 ${info}`, 'text', free),
  expr: program(info, 'text', free),
  factor: program(info, 'text'),
  numfmt: program(
    `-d: --from= --to= --field= --suffix= --padding= --format= --header=? --round= --delimiter= ${info}`,
    'text',
  ),
  type: program('-afptP', 'text'),
  // `command name` itself is a wrapper.
  command: program('-vV', 'text'),
  umask: program('-pS', 'none'),
  ulimit: program('-aHS', 'none'),
  jobs: program('-lnprs', 'none'),
  times: program('', 'none'),
};

const same = (judge: Judge, ...names: string[]) => names.map((name): [string, Judge] => [name, judge]);

const programs: ReadonlyMap<string, Judge> = new Map([
  ...[fileReaders, searches, systemPrograms, values, runtimes].flatMap((group) => Object.entries(group)),
  ...same(program(`-btz --binary --text --tag --zero ${info}`, 'paths'), 'sha1sum', 'sha256sum', 'sha512sum', 'b2sum'),
  ...same(judgeAwk, 'gawk', 'mawk', 'nawk'),
  ...same(fd, 'fd', 'fdfind'),
  ['git', judgeGit],
]);
