import { nameSet } from '../programs/name-set.js';
import { readOnlyJudge } from '../programs/read-only-programs.js';
import { type Segment, unknownPart } from '../shell/command-analysis.js';
import { isPlainSetting } from './code-doubts.js';

/**
 * The narrowest readable rules that would allow these segments; none if one of them should be confirmed every time:
 * interpreters, wrappers, deletions, or anything not fully known.
 */
export function proposeRules(segments: readonly Segment[]): string[] {
  const rules = segments.map((segment) => (segment.hidden ? undefined : proposeRule(segment.words)));
  return rules.every((rule) => rule !== undefined) ? [...new Set(rules)] : [];
}

/** Programs with subcommands, possibly after global flags: `git -C x push`. */
const hasSubcommands = (name: string): boolean => twoWordPrograms.has(name) || name === 'gh';

/** Programs whose actions are named by two words, such as `git push`. */
const twoWordPrograms = nameSet(
  'git npm yarn pnpm bun cargo go dotnet mvn gradle make just cmake bazel pip pip3 uv poetry gem bundle composer ' +
    'rails rake mix docker podman kubectl helm terraform systemctl brew apt apt-get',
);

/** Actions that are named by three words, such as `git remote add`. */
const threeWordActions =
  /^(git (remote|stash|worktree|submodule)|npm (run|pkg)|(yarn|pnpm|bun) run|go mod|uv pip|docker compose|gh .*)$/s;

/** Tools with one purpose. Any other program may be an interpreter, so only its exact words are proposed. */
const tools = nameSet(
  'mkdir touch tsc eslint prettier biome oxlint stylelint knip jest vitest mocha ava playwright cypress webpack vite esbuild ' +
    'pytest ruff black isort flake8 mypy pyright rustfmt gofmt golangci-lint clang-format clang-tidy shellcheck shfmt ' +
    'yamllint hadolint rubocop rspec phpunit phpstan ninja',
);

/** Confirmed every time: what these do depends entirely on their arguments. */
const neverAlways = nameSet(
  'sh bash rbash dash zsh ksh fish ash python pypy ipython node nodejs deno tsx ts-node ruby perl php lua luajit tclsh osascript pwsh ' +
    'irb ghci R Rscript java jshell groovy scala kotlin swift julia guile racket clojure elixir iex erl octave awk gawk mawk sed ed ex m4 bc dc gnuplot ' +
    'psql mysql mariadb sqlite mongosh redis-cli chroot unshare nsenter runuser pkexec systemd-run bwrap firejail proot fakeroot time ionice ' +
    'taskset chrt ltrace perf valgrind entr direnv nix nix-shell conda pipx ' +
    'env timeout nice nohup xargs sudo doas su command exec eval builtin find parallel ssh busybox toybox setsid stdbuf ' +
    'watch strace flock npx pnpx bunx uvx rm rmdir shred unlink dd mkfs mv cp ln chmod chown chgrp install tee truncate rsync ' +
    'scp curl wget nc ncat socat kill pkill killall crontab at reboot shutdown tar unzip ' +
    'vi vim nvim emacs nano less more man screen tmux expect gdb script ' +
    // A later flag can make any other use run a program or write any file.
    'patch rollup pylint tox ctest cmake meson protoc rustc mvn bazel rake apt apt-get',
);
/** Git subcommands that no later flag makes run a program, write elsewhere, or delete. */
const gitTogether =
  /^git (add|checkout|cherry-pick|commit|gc|merge|mv|notes|restore|revert|sparse-checkout|switch|tag|update-index|stash (apply|branch|pop|push|save)|submodule (add|init|set-branch|set-url|sync|update)|worktree (add|lock|move|prune|repair|unlock)|remote (add|prune|remove|rename|rm|set-branches|set-head|set-url|update))(?![\w-])/;
const neverTogether = new RegExp(
  `^(${[
    '(docker|podman) (compose )?(run|exec|create|container|cp)',
    'podman (unshare|machine|kube)',
    '(npm|pnpm|yarn|bun) (exec|dlx|x|config|set|init|create|explore|edit|workspaces?)',
    '(yarn|pnpm|bun) (run )?(node|deno|tsx|ts-node|python\\d?|sh|bash|env)',
    'gh (alias|api|config|extension|codespace|auth|repo (clone|fork)|gist clone)',
    'kubectl (exec|delete|run|config|edit|debug|attach|cp)',
    'helm (install|upgrade|template|plugin)',
    'go (env|run|generate|tool|build|install|vet|list|get)',
    'cargo run',
    'uv (run|tool)',
    'poetry (run|shell)',
    '(pip3?|poetry) (config|self)',
    'gem exec',
    '(bundle|composer) (exec|console|global|config)',
    'rails (runner|r|console|c|dbconsole|new)',
    'mix (run|eval|do|cmd)',
    'dotnet (run|exec|tool|fsi|script)',
    'brew (sh|ruby|irb|bundle|edit)',
    'terraform console',
    'systemctl edit',
  ].join('|')})(?![\\w-])`,
);

/** Whether a rule can name this wrapper together with what it runs, so that the latter needs no answer of its own. */
export function isNamedWrapper(words: readonly string[]): boolean {
  const isWrapper = lengthBefore(words) > 0 || runnerLength(words) !== undefined;
  return isWrapper && proposeRule(words) !== undefined;
}

function proposeRule(words: readonly string[]): string | undefined {
  const before = lengthBefore(words);
  if (before === 0) return toolRule(words) ?? programRule(words);
  const rule = proposeRule(words.slice(before));
  return rule?.endsWith(' *') ? after(words.slice(0, before), rule) : undefined;
}

function programRule(words: readonly string[]): string | undefined {
  const [name = ''] = words;
  // `python3.11` is python.
  if (!/^[\w.+-]+$/.test(name) || neverAlways.has(name) || neverAlways.has(name.replace(/[\d.]+$/, '')))
    return undefined;
  // Its harmless uses need no rule; the others differ only in their flags.
  if (readOnlyJudge(name) && !hasSubcommands(name)) return undefined;
  if (tools.has(name)) return `${name} *`;
  if (!hasSubcommands(name)) return theseWords(words);
  const length = threeWordActions.test(words.slice(0, 2).join(' ')) ? 3 : 2;
  const prefix = words.slice(0, length);
  const isPlain = prefix.length === length && prefix.slice(1).every((word) => /^\w[\w:@/.-]*$/.test(word));
  const action = prefix.join(' ');
  return isPlain && mayVary(action) ? `${action} *` : undefined;
}

/** Variables that choose programs, or give them options. */
const changesPrograms = /PATH|PRELOAD|LIBRARY|OPT|FLAGS|SHELL|EDITOR|PAGER|PROXY|CONFIG|HOME|GIT_|BASH|ENV_FILE/i;
/** Variables whose value is a plain word and names neither a program nor a file. */
const plainWords = /^(?:\w*_ENV|ENVIRONMENT|\w*LOG_LEVEL|LOGLEVEL|RUST_LOG|DEBUG|TZ|LANG|LC_\w+|TERM)=[\w:,.+-]*$/;

/** The number of words before the command in `VAR=1 command` and `timeout 60 command`. A rule repeats them. */
function lengthBefore([first = '', second = '']: readonly string[]): number {
  const [variable = ''] = first.split('=', 1);
  if ((isPlainSetting(first) || plainWords.test(first)) && !changesPrograms.test(variable)) return 1;
  return first === 'timeout' && /^\d+(\.\d+)?[smhd]?$/.test(second) ? 2 : 0;
}

const after = (words: readonly string[], rule: string | undefined) =>
  rule === undefined ? undefined : [...words, rule].join(' ');

/** What runs a tool of the project: everything after the tool's name is for the tool. */
const runners = /^(npx|bunx|pnpx|(pnpm|yarn) exec|(uv|poetry|pdm|hatch|rye|pipenv) run|bundle exec)$/;
const modules = nameSet('pytest unittest ruff black isort flake8 mypy pyright');

const runnerLength = (words: readonly string[]) =>
  [1, 2].find((count) => runners.test(words.slice(0, count).join(' ')));

/** The rule for `npx vitest`, `python -m pytest` or `uv run python -m pytest`, with any arguments. */
function toolRule(words: readonly string[]): string | undefined {
  const [first = '', second = '', third = ''] = words;
  if (first === './gradlew' && /^[a-z:][\w:-]*$/i.test(second)) return `${first} ${second} *`;
  if (/^python[\d.]*$/.test(first) && second === '-m' && modules.has(third)) return `${first} -m ${third} *`;
  const length = runnerLength(words);
  if (length === undefined) return undefined;
  const inner = words.slice(length);
  const isTool = tools.has(inner[0] ?? '') && !['mkdir', 'touch'].includes(inner[0] ?? '');
  return after(words.slice(0, length), isTool ? `${inner[0]} *` : toolRule(inner));
}

/** Whether an action is the same whatever flags follow it. */
function mayVary(action: string): boolean {
  return action.startsWith('git ') ? gitTogether.test(action) : !neverTogether.test(action);
}

/** A rule matches longer commands too, so the last word must not be a flag that expects a value. */
function theseWords(words: readonly string[]): string | undefined {
  const isPlain = words.length > 1 && words.every((word) => /^[\w./:@=+,-]+$/.test(word));
  return isPlain && !words.at(-1)?.startsWith('-') ? words.join(' ') : undefined;
}

const manyFlags = 16;
const gitValueFlags = /^(-[cC]|--(git-dir|work-tree|namespace|super-prefix|config-env|attr-source))$/;

const isFlag = (word = '') => word.startsWith('-');

/**
 * `git -C x push` as `git push`, for deny rules; empty if there is no flag before the subcommand. For programs other than
 * git, a word after a flag may or may not be its value.
 */
export function withoutFlags(name: string, args: readonly string[]): string[][] {
  if (!hasSubcommands(name) || !isFlag(args[0])) return [];
  const mayTakeValue = (word = '') =>
    isFlag(word) && !word.includes('=') && (name !== 'git' || gitValueFlags.test(word));
  const found: string[][] = [];
  let at = 0;
  for (; at < args.length && (isFlag(args[at]) || mayTakeValue(args[at - 1])); at++)
    if (!isFlag(args[at])) found.push([name, ...args.slice(at)]);
  found.push([name, ...args.slice(at)]);
  // An alias defined by a flag may be any program.
  const isAlias = name === 'git' && args.slice(0, at).some((word) => /^(--config-env=)?alias\./i.test(word));
  return isAlias || found.length > manyFlags ? [[unknownPart]] : found;
}
