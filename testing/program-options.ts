import { spawnSync } from 'node:child_process';

/** Programs that the analysis knows, each with the options that it says it has. */
export type ProgramOptions = ReadonlyMap<string, readonly string[]>;

const programs =
  'awk basename cat cksum cmp column comm cut date df diff dirname du echo egrep expand expr fgrep file find fmt fold grep head hexdump id jq join ls lsof md5sum nl nproc numfmt od paste pr printf ps readlink realpath rev rg sed seq sha256sum shuf sort stat strings sum tac tail test tr tree tsort uname uniq unexpand uptime wc which who xargs xxd';
const gitCommands =
  'blame branch cat-file check-ignore config count-objects describe diff diff-tree for-each-ref grep log ls-files ls-tree merge-base name-rev reflog remote rev-list rev-parse shortlog show show-ref stash status symbolic-ref tag var';
/** What `git log -h` and `git diff -h` leave to the manual. */
const gitDiffOptions =
  '-p -s -U --unified --output --raw --patch-with-raw --indent-heuristic --minimal --histogram --anchored --diff-algorithm --stat --stat-width --compact-summary --numstat --shortstat -X --dirstat --cumulative --summary -z --name-only --name-status --submodule --color --color-moved --word-diff --word-diff-regex --color-words --no-renames --check --ws-error-highlight --full-index --binary --abbrev -B -M -C -D -l --diff-filter -S -G --find-object --pickaxe-all -O --skip-to --rotate-to -R --relative -a -b -w --ignore-blank-lines -I --inter-hunk-context -W --exit-code --quiet --ext-diff --textconv --ignore-submodules --src-prefix --dst-prefix --no-prefix --line-prefix --ita-invisible-in-index';
const gitLogOptions =
  '-n --max-count --skip --since --until --author --grep --all --branches --tags --remotes --glob --exclude --reflog --alternate-refs --stdin --merges --no-merges --min-parents --max-parents --first-parent --follow --decorate --decorate-refs --source --log-size -L --pretty --format --abbrev-commit --oneline --encoding --expand-tabs --notes --show-signature --relative-date --date --parents --children --graph --show-linear-break -c --cc --remerge-diff --diff-merges -m -r -t -g --walk-reflogs --no-walk --bisect --cherry --boundary --simplify-merges --full-history --ancestry-path --no-index --cached --contents --edit-description';

/** Asks every installed program for its options. */
export function harvestOptions(): ProgramOptions {
  const harvested = new Map(programs.split(' ').map((name) => [name, optionsIn(helpOf(name, '--help'))]));
  const shared = [...gitDiffOptions.split(' '), ...gitLogOptions.split(' ')];
  for (const name of gitCommands.split(' '))
    harvested.set(`git ${name}`, [...new Set([...optionsIn(helpOf('git', name, '-h')), ...shared])]);
  return new Map([...harvested].filter(([, options]) => options.length > 0));
}

function helpOf(name: string, ...args: string[]): string {
  const { stdout, stderr } = spawnSync(name, args, { cwd: '/', input: '', encoding: 'utf8', timeout: 20_000 });
  return `${stdout ?? ''}\n${stderr ?? ''}`;
}

function optionsIn(help: string): string[] {
  const found = help.matchAll(/(?<![\w-])(--?[A-Za-z0-9][\w-]*)/g);
  return [...new Set([...found].map(([, option = '']) => option))];
}
