import { forNames } from './name-set.js';
import { type Judge, judges, program, refuseMoreThan, type SortedArguments } from './read-arguments.js';
import { judgeAwk } from './read-only-awk.js';
import { judgePrintf, judgeTest } from './read-only-builtins.js';
import { judgeFind } from './read-only-find.js';
import { judgeGit } from './read-only-git.js';
import { judgeSed } from './read-only-sed.js';
import { runtimes, systemPrograms } from './read-only-system.js';

/**
 * Programs and builtins that are known to be read-only with the listed flags. Any other flag needs approval, even an
 * abbreviation of a listed one. For the notation see `flagList`.
 */
export function readOnlyJudge(name: string): Judge | undefined {
  return programs.get(name);
}

const free = { isFree: true };
const info = '--help --version';

/** Whether two files differ is not a secret; how they differ may be, and so may the names in subdirectories. */
function diffFollows({ flags }: SortedArguments): boolean {
  return !flags.has('--no-dereference') && (isRecursive(flags) || !(flags.has('-q') || flags.has('--brief')));
}

const isRecursive = (flags: ReadonlySet<string>) => flags.has('-r') || flags.has('--recursive');

const ends = '-# -n: -c: -qvz --lines= --bytes= --quiet --silent --verbose --zero-terminated';

/** Programs that read the files they name, and have no flag that writes, runs or connects. */
const plainReaders = judges(
  {
    cat: '-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs',
    head: ends,
    tail: ends,
    tac: '-br -s: --before --regex --separator=',
    nl: '-b: -d: -f: -h: -i: -l: -n: -s: -v: -w: -p',
    rev: '',
    wc: '-clmLw --bytes --chars --lines --words --max-line-length',
    cut:
      '-b: -c: -d: -f: -nsz --bytes= --characters= --delimiter= --fields= --complement --only-delimited ' +
      '--output-delimiter=',
    paste: '-d: -sz --delimiters= --serial',
    fold: '-bs -w: --bytes --spaces --width=',
    fmt: '-cstu -w: -g: --width=',
    expand: '-i -t: --initial --tabs=',
    unexpand: '-a -t: --all --first-only --tabs=',
    column:
      '-txeJLd -s: -o: -c: -N: -l: -H: -R: -W: -E: --table --separator= --output-separator= --columns= --json ' +
      '--table-columns=',
    comm: '-123z --check-order --nocheck-order --output-delimiter= --total',
    cmp: '-bls -i: -n: --print-bytes --verbose --quiet --silent --bytes= --ignore-initial=',
    tsort: '',
    od: '-abcdfiloshvx -A: -j: -N: -t: -w? -S: --address-radix= --format= --read-bytes= --skip-bytes= --width=?',
    stat: '-Lft -c: --dereference --file-system --format= --printf= --terse',
    readlink: '-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero',
    realpath:
      '-eLmPqsz --canonicalize-existing --canonicalize-missing --relative-to=@ --relative-base=@ --no-symlinks --zero',
    base64: '-di -w: --decode --ignore-garbage --wrap=',
  },
  (flags) => program(`${flags} ${info}`, 'paths', free),
);

const checksums = program(`-btz --binary --text --tag --zero ${info}`, 'paths');
const writesSecond = refuseMoreThan(1, 'its second operand is a file it writes');

const otherReaders: Record<string, Judge> = {
  join: program(
    `-i -a: -e: -1: -2: -j: -o: -t: -v: -z --ignore-case --check-order --nocheck-order --header ${info}`,
    'paths',
    {
      isFree: true,
      // In some versions of join, any other -a has no value.
      why: '-a takes 1 or 2',
      refuse: ({ values }) => values.some(({ flag, value }) => flag === '-a' && !/^[12]$/.test(value.value)),
    },
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
      why: 'it follows symlinks inside the directories',
      refuse: (args) => isRecursive(args.flags) && diffFollows(args),
      followsLinks: diffFollows,
    },
  ),
  // The second operand of uniq and xxd is a file they write, even if it looks like a flag.
  uniq: program(
    `+ -cdDiuz -f: -s: -w: --count --repeated --unique --ignore-case --skip-fields= --skip-chars= --check-chars= ${info}`,
    'paths',
    writesSecond,
  ),
  xxd: program('1 + -a -b -e -E -i -p -ps -u -c: -g: -l: -s: -o: -n: -v', 'paths', writesSecond),
  // Without -o, which writes, --compress-program, which runs, and --files0-from, which reads the files in a list.
  sort: program(
    `-bcCdfghiMmnRrsuVz -k: -t: -S: --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort ` +
      `--human-numeric-sort --numeric-sort --random-sort --reverse --version-sort --sort= --key= --field-separator= ` +
      `--unique --stable --zero-terminated --check=? --merge --parallel= --debug ${info}`,
    'paths',
  ),
  shuf: program('-n: -i: -erz --head-count= --input-range= --echo --repeat', 'paths'),
  hexdump: program('-bcCdovx -e: -n: -s:', 'paths'),
  strings: program(`-afwo -# -n: -t: -e: --all --print-file-name --bytes= --radix= --encoding= ${info}`, 'paths', {
    // Programs of binutils read more flags, such as one that loads a plugin, from the file after an @.
    why: 'the file after an @ contains more flags',
    refuse: ({ operands, values }) =>
      [...operands, ...values.map(({ value }) => value)].some(({ value }) => value.startsWith('@')),
  }),
  file: program(
    `-bhiLkNrsv0 -F: --brief --dereference --no-dereference --mime --mime-type --mime-encoding --extension ${info}`,
    'paths',
  ),
  cksum: program(`-z -a: -l: --algorithm= --untagged --raw ${info}`, 'paths'),
  // Without -f, -L and modules, which read other files.
  jq: program(
    `-acCenrsSMjR --arg== --argjson== --compact-output --null-input --raw-output --raw-input --slurp --sort-keys ` +
      `--exit-status --tab --indent= --color-output --monochrome-output --join-output --stream --seq --unbuffered ${info}`,
    'filter',
    {
      why: 'its filter could read other files',
      refuse: ({ operands }) =>
        operands.some(
          ({ value, isKnown, pattern, isGlob }, index) =>
            (!isKnown && !pattern) || (isGlob && index === 0) || /\b(import|include|modulemeta)\b/.test(value),
        ),
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

// Without -x and -X, which run a program, -l, which runs ls, and -L, which follows symlinks.
const fd = program(
  '-HIsiagFpu01 -e: -E: -t: -d: -S: -c: -j: --hidden --no-ignore --no-ignore-vcs --case-sensitive --ignore-case --glob --regex ' +
    '--fixed-strings --absolute-path --full-path --extension= --exclude= --type= --max-depth= --min-depth= ' +
    `--exact-depth= --size= --changed-within= --changed-before= --max-results= --print0 --color= --threads= ${info}`,
  'pattern',
);

/** Without these, ripgrep skips files whose names start with a dot. */
const showsHidden = ['-.', '--hidden', '-u', '--unrestricted', '-g', '--glob', '--iglob'];

function onlyNames(values: SortedArguments['values'], flag: RegExp): { only?: string[] } {
  const only = values.filter((each) => flag.test(each.flag)).map(({ value }) => value.value);
  return only.length > 0 ? { only } : {};
}

const searches: Record<string, Judge> = {
  // Without -R, which follows symlinks out of the directory.
  grep: program(grepFlags, 'lines', {
    limits: ({ values }) => onlyNames(values, /^--include$/),
    why: 'the number after --context may be the pattern',
    refuse: ({ flags, values }) => flags.has('--context') && !values.some(({ flag }) => flag === '--context'),
  }),
  // Without --pre and --hostname-bin, which run a program, -z, which decompresses, and -L, which follows symlinks.
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
    { limits: ({ flags }) => (showsHidden.some((flag) => flags.has(flag)) ? {} : { skipsHidden: true }) },
  ),
  // Without the flags that follow symlinks: -L of ls and du, -l of tree. tree takes values from later words even for
  // bundled flags.
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
};

/** Programs that only print text, and have no flag that writes, runs or connects. */
const printers = judges(
  {
    echo: '-neE',
    true: '',
    false: '',
    ':': '',
    yes: info,
    tr: `-cCdst --complement --delete --squeeze-repeats --truncate-set1 ${info}`,
    expr: info,
    basename: `-az -s: --multiple --suffix= --zero ${info}`,
    dirname: `-z --zero ${info}`,
  },
  (flags) => program(flags, 'text', free),
);

const builtins: Record<string, Judge> = {
  printf: judgePrintf,
  test: judgeTest,
  '[': judgeTest,
  pwd: program('-LP', 'none'),
  cd: program('', 'paths'),
  sleep: program('', 'text'),
  seq: program(`-w -f: -s: --equal-width --format= --separator= ${info}`, 'text'),
  factor: program(info, 'text'),
  numfmt: program(
    `-d: --from= --to= --field= --suffix= --padding= --format= --header=? --round= --delimiter= ${info}`,
    'text',
  ),
  type: program('-afptP', 'text'),
  // `command name` is a wrapper.
  command: program('-vV', 'text'),
  umask: program('-pS', 'none'),
  ulimit: program('-aHS', 'none'),
  jobs: program('-lnprs', 'none'),
  times: program('', 'none'),
};

const tables = [plainReaders, otherReaders, searches, systemPrograms, printers, builtins];

const programs: ReadonlyMap<string, Judge> = new Map([
  ...tables.flatMap((table) => Object.entries(table)),
  ...forNames('md5sum sha1sum sha256sum sha512sum b2sum', checksums),
  ...forNames('awk gawk mawk nawk', judgeAwk),
  ...forNames('fd fdfind', fd),
  ...runtimes,
  ['git', judgeGit],
]);
