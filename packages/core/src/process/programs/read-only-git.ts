import type { Argument } from '../shell/expand-word.js';
import { nameSet } from './name-set.js';
import {
  type Effects,
  here,
  type Judge,
  judges,
  program,
  refuseMoreThan,
  type SortedArguments,
  subcommands,
} from './read-arguments.js';

/** Flags before the subcommand. Without -c and the like, which can configure programs to run. */
const globalFlags = nameSet('--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects');

/** Flags whose value may make git check a signature, which runs a program. */
const namesFormat = /^--(format|pretty|sort)$/;

/**
 * The read-only subcommands and flags of git. Without flags that name a file to read, which git resolves from the top
 * of the work tree; flags that enter submodules, which are other repositories; and `whatchanged`, which an alias may
 * replace.
 */
export const judgeGit: Judge = (args) => {
  const directories: Argument[] = [];
  let at = 0;
  for (; at < args.length; at++) {
    const value = args[at]?.value ?? '';
    if (globalFlags.has(value)) continue;
    const directory = args[at + 1];
    if (value !== '-C' || !directory) break;
    directories.push(directory);
    at++;
  }
  const rest = withoutLastDefault(args.slice(at));
  if (directories.length > 1) return { why: 'it changes the directory more than once' };
  if (directories[0]?.isGlob) return { why: `${directories[0].text} may mean more than one directory` };
  if (rest.some(({ value }) => /%[-+ ]?G|signature/.test(value)))
    return { why: 'a format may make git check a signature' };
  const vague = rest.find(
    ({ value, isKnown }, index) =>
      !isKnown && (value.startsWith('-') || namesFormat.test(rest[index - 1]?.value ?? '')),
  );
  if (vague) return { why: `${vague.text} is only known when it runs` };
  return seenFrom(directories[0] ?? here, { ...judgeSubcommand(rest), workTrees: trackedFiles(rest) });
};

/** `git grep` reads the files of the work tree, unless `--cached` makes it search the index. */
function trackedFiles([subcommand, ...args]: readonly Argument[]): Argument[] {
  const end = args.findIndex(({ value }) => value === '--');
  const flags = end === -1 ? args : args.slice(0, end);
  return subcommand?.value === 'grep' && !flags.some(({ value }) => value === '--cached') ? [here] : [];
}

/** The effects of a subcommand whose paths are relative to the directory that git changes to first. */
function seenFrom(directory: Argument, effects: Effects): Effects {
  const { reads = [], searches = [], workTrees = [] } = effects;
  const repositories = [directory];
  if (directory === here) return { ...effects, reads: [here, ...reads], repositories };
  const vague = reads.find((path) => path !== here && !(isPlain(path) && isPlain(directory)));
  if (vague) return { why: `${vague.text} is looked up in another directory`, repositories };
  const placed = (path: Argument): Argument => {
    if (path === here) return directory;
    return path.value.startsWith('/') ? path : { ...path, value: `${directory.value || '.'}/${path.value}` };
  };
  const moved = { searches: searches.map(placed), workTrees: workTrees.map(placed) };
  return { ...effects, ...moved, reads: [directory, ...reads.map(placed)], repositories };
}

const isPlain = ({ isKnown, below, names }: Argument) => isKnown && !below && !names;

/** In a list of references, `--contains` and `--merged` take a commit, or none if they are the last word. */
function withoutLastDefault(args: readonly Argument[]): readonly Argument[] {
  const isListing = ['branch', 'tag', 'for-each-ref'].includes(args[0]?.value ?? '');
  if (!isListing || args.some(({ value }) => value === '--')) return args;
  return /^--(no-)?(contains|merged)$/.test(args.at(-1)?.value ?? '') ? args.slice(0, -1) : args;
}

// Without --output, which writes, --ext-diff and --textconv, which run programs, --submodule, which reads other
// repositories with their configuration, -O, which reads a file, and -m and --diff-merges, which may run a merge driver.
const diff =
  '-pusRazwbWrtDc -U? -S: -G: -M? -C? -B? -X? -l: --patch --no-patch --unified=? --raw --patch-with-stat --minimal ' +
  '--patience --histogram --diff-algorithm= --stat=? --stat-width= --compact-summary --numstat --shortstat --dirstat=? ' +
  '--summary --name-only --name-status --no-renames --find-renames=? --find-copies=? --find-copies-harder --check ' +
  '--full-index --binary --abbrev=? --no-abbrev --ignore-all-space --ignore-space-change --ignore-space-at-eol ' +
  '--ignore-cr-at-eol --ignore-blank-lines --color=? --no-color --color-moved=? --color-words=? --word-diff=? ' +
  '--word-diff-regex= --pickaxe-all --pickaxe-regex --text --cached --staged --merge-base --exit-code --quiet ' +
  '--no-ext-diff --no-textconv --inter-hunk-context= --function-context --diff-filter= --relative=? --no-relative ' +
  '--no-prefix --src-prefix= --dst-prefix= --ignore-submodules=? --cc --combined-all-paths';

// Without --show-signature, which runs gpg.
const log =
  `${diff} -# -n: -i -E -F -P -g -L: --max-count= --skip= --oneline --pretty=? --format=? --graph --no-graph --decorate=? ` +
  '--no-decorate --decorate-refs= --decorate-refs-exclude= --clear-decorations --all --branches=? --tags=? --remotes=? ' +
  '--glob= --exclude= --since= --after= --until= --before= --author= --committer= --grep= --regexp-ignore-case ' +
  '--extended-regexp --fixed-strings --perl-regexp --all-match --invert-grep --merges --no-merges --min-parents=? ' +
  '--max-parents=? --first-parent --not --reverse --date= --date-order --author-date-order --topo-order --follow ' +
  '--full-history --simplify-merges --simplify-by-decoration --dense --sparse --ancestry-path --left-right --left-only ' +
  '--right-only --cherry-pick --cherry-mark --cherry --boundary --abbrev-commit --no-abbrev-commit --show-pulls ' +
  '--parents --children --walk-reflogs --mailmap --use-mailmap --no-mailmap --source --full-diff --no-walk=? ' +
  '--relative-date --notes=? --no-notes --encoding= --remove-empty --no-diff-merges --log-size --reflog';

const refs =
  '--contains= --no-contains= --merged= --no-merged= --points-at= --sort= --format= --color=? --no-color --column=? --no-column -i --ignore-case';

const onlyListing = (...flags: string[]) => ({
  why: 'an operand makes it create something',
  refuse: ({ operands, flags: given }: SortedArguments) =>
    operands.length > 0 && !flags.some((flag) => given.has(flag)),
});

/** Keys whose value is not a secret. */
const plainKey =
  /^(user|core|init|branch|remote|merge|pull|push|diff|color|commit|fetch|log|rebase|submodule)\.[\w./-]+$/i;

/** Subcommands whose operands are commits, references or patterns. */
const viewers = judges(
  {
    log,
    show: log,
    'diff-tree': `${diff} --stdin --root -v --pretty=? --format=? --no-commit-id`,
    'diff-index': diff,
    'diff-files': diff,
    'range-diff': `${diff} --creation-factor= --no-dual-color --left-only --right-only`,
    'rev-list': `${log} --count --objects --disk-usage --header --timestamp`,
    status:
      '-sbvz -u? -M? --short --branch --porcelain=? --long --verbose --untracked-files=? --ignored=? --ignore-submodules=? --column=? ' +
      '--no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames=? --show-stash',
    'rev-parse':
      '-q --quiet --verify --short=? --abbrev-ref=? --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup ' +
      '--git-dir --git-common-dir --absolute-git-dir --git-path= --is-inside-work-tree --is-inside-git-dir ' +
      '--is-bare-repository --is-shallow-repository --show-object-format=? ' +
      '--path-format= --all --branches=? --tags=? --remotes=? --not --default= --revs-only --no-revs --flags --no-flags',
    'ls-files':
      '-cdmoisuktvzf -x: --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory ' +
      '--no-empty-directory --exclude= --exclude-standard --error-unmatch ' +
      '--with-tree= --full-name --abbrev=? --debug --eol --deduplicate --format=',
    'ls-tree': '-drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev=? --format=',
    'cat-file': '-tsep',
    shortlog:
      '-sne -c -w? --summary --numbered --email --committer --group= --format=? --no-merges --merges --since= --until= --after= --before= --author= --all --branches=? --grep=',
    describe:
      '--tags --all --long --always --abbrev=? --exact-match --contains --match= --exclude= --first-parent --candidates= --debug',
    'name-rev': '--name-only --tags --refs= --exclude= --all --always --no-undefined',
    'merge-base': '-a --all --octopus --is-ancestor --fork-point --independent',
    'for-each-ref': `--count= --exclude= --stdin ${refs}`,
    'show-ref': '-dsq --head --heads --branches --tags --verify --dereference --hash=? --abbrev=? --quiet --exists',
    'check-ignore': '-qvnz --quiet --verbose --non-matching --no-index',
    'check-attr': '-az --all --cached',
    cherry: '-v --abbrev=?',
  },
  (flags) => program(flags, 'text'),
);

const judgeSubcommand = subcommands({
  ...viewers,
  diff: (args) => {
    const effects = judgeDiff(args);
    // Two paths are compared even outside a repository, including everything below them.
    return effects.reads?.length === 2 ? { ...effects, searches: effects.reads } : effects;
  },
  branch: program(
    `-arvl --all --remotes --verbose --list --show-current --abbrev=? --no-abbrev ${refs}`,
    'text',
    // In older versions of git, -l means something else.
    onlyListing('--list'),
  ),
  tag: program(`-l -n? --list ${refs}`, 'text', onlyListing('-l', '--list')),
  remote: (args) => (args[0]?.value === 'get-url' ? remoteUrl(args.slice(1)) : remoteList(args)),
  stash: subcommands({
    list: program(log, 'text'),
    show: program(`${diff} --include-untracked --only-untracked`, 'text'),
  }),
  config: program(
    // The word after the key is a value, even if it looks like a flag.
    '+ --get --get-all --local --global --system --bool --int --type= --show-origin --show-scope --name-only -z',
    'text',
    {
      why: 'it may show secrets or set a value',
      refuse: ({ operands: [key, ...others] }) => !key?.isKnown || !plainKey.test(key.value) || others.length > 0,
    },
  ),
  blame: program(
    '-ltsewpcfn -L: -C? -M? --show-email --porcelain --line-porcelain --incremental --date= --since= --reverse --first-parent ' +
      '--abbrev=? --root --color-lines --color-by-age --show-number --show-name --minimal --ignore-rev=',
    // A file below a symlink is read at the target of the symlink.
    'paths',
  ),
  'symbolic-ref': program('-q --quiet --short', 'text', refuseMoreThan(1, 'its second operand sets the reference')),
  reflog: program(log, 'text', {
    why: 'its operand may change the log',
    refuse: ({ operands: [first] }) => first !== undefined && !/^(show|HEAD)$|[@{}/]/.test(first.value),
  }),
  grep: (args) => {
    const effects = judgeGrep(args);
    return effects.reads?.some((path) => leadsElsewhere(path, args))
      ? { ...effects, why: 'its path pattern may match files elsewhere' }
      : effects;
  },
  'count-objects': program('-vH --verbose --human-readable', 'none'),
  worktree: subcommands({ list: program('-vz --porcelain --verbose', 'none') }),
  notes: subcommands({ list: program('', 'text'), show: program('', 'text') }),
  version: program('--build-options', 'none'),
  '--version': program('', 'none'),
});

const judgeGrep = program(
  '-aIiwvhHEGPFnlLzcoWpqr -# -e: -A: -B: -C: -m: --cached --no-index --untracked --no-exclude-standard --exclude-standard ' +
    '--text --ignore-case --word-regexp --invert-match --full-name --extended-regexp ' +
    '--basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only ' +
    '--files-without-match --null --only-matching --count --color=? --no-color --break --heading --show-function ' +
    '--function-context --context= --after-context= --before-context= --max-depth= --max-count= --threads= --and --or ' +
    '--not --all-match --quiet --recursive --no-recursive',
  'pattern',
);

/** `:/` and the like start at the top of the work tree; among untracked files, git itself expands `*rc`. */
function leadsElsewhere({ value }: Argument, args: readonly Argument[]): boolean {
  const isUntracked = args.some((argument) => /^--(untracked|no-index)$/.test(argument.value));
  return /^:(?![!^])/.test(value) || (isUntracked && /[*?[\\]/.test(value));
}

const judgeDiff = program(`${diff} --no-index`, 'paths');
const remoteList = program('-v --verbose', 'none');
const remoteUrl = program('--all --push', 'text');
