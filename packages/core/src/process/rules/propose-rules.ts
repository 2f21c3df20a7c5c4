import { readOnlyJudge } from '../programs/read-only-programs.js';
import type { Segment } from '../shell/command-analysis.js';

/**
 * The narrowest readable rules that would allow these segments; none if one of them should be confirmed every time:
 * interpreters, wrappers, deletions, or anything not fully known.
 */
export function proposeRules(segments: readonly Segment[]): string[] {
  const rules = segments.map((segment) => (segment.hidden ? undefined : proposeRule(segment.words)));
  return rules.every((rule) => rule !== undefined) ? [...new Set(rules)] : [];
}

/** Programs with subcommands, possibly after global flags: `git -C x push`. */
export const hasSubcommands = (name: string): boolean => Object.hasOwn(nameLengths, name);

/** Words that make up the name of an action. */
const nameLengths: Record<string, number | undefined> = {
  git: 2,
  'git remote': 3,
  'git stash': 3,
  'git worktree': 3,
  'git submodule': 3,
  npm: 2,
  'npm run': 3,
  'npm pkg': 3,
  yarn: 2,
  'yarn run': 3,
  pnpm: 2,
  'pnpm run': 3,
  bun: 2,
  'bun run': 3,
  cargo: 2,
  go: 2,
  'go mod': 3,
  dotnet: 2,
  mvn: 2,
  gradle: 2,
  make: 2,
  just: 2,
  cmake: 2,
  bazel: 2,
  pip: 2,
  pip3: 2,
  uv: 2,
  'uv pip': 3,
  poetry: 2,
  gem: 2,
  bundle: 2,
  composer: 2,
  rails: 2,
  rake: 2,
  mix: 2,
  docker: 2,
  'docker compose': 3,
  podman: 2,
  kubectl: 2,
  helm: 2,
  terraform: 2,
  gh: 3,
  systemctl: 2,
  brew: 2,
  apt: 2,
  'apt-get': 2,
};

/** Tools with one purpose. Any other program may be an interpreter, so only its exact words are proposed. */
const tools = new Set(
  (
    'mkdir touch tsc eslint prettier biome oxlint stylelint knip jest vitest mocha ava playwright cypress webpack vite esbuild ' +
    'pytest ruff black isort flake8 mypy pyright rustfmt gofmt golangci-lint clang-format clang-tidy shellcheck shfmt ' +
    'yamllint hadolint rubocop rspec phpunit phpstan ninja'
  ).split(' '),
);

/** Confirmed every time: what these do depends entirely on their arguments. */
const neverAlways = new Set(
  (
    'sh bash rbash dash zsh ksh fish ash python pypy ipython node nodejs deno tsx ts-node ruby perl php lua luajit tclsh osascript pwsh ' +
    'irb ghci R Rscript java jshell groovy scala kotlin swift julia guile racket clojure elixir iex erl octave awk gawk mawk sed ed ex m4 bc dc gnuplot ' +
    'psql mysql mariadb sqlite mongosh redis-cli chroot unshare nsenter runuser pkexec systemd-run bwrap firejail proot fakeroot time ionice ' +
    'taskset chrt ltrace perf valgrind entr direnv nix nix-shell conda pipx ' +
    'env timeout nice nohup xargs sudo doas su command exec eval builtin find parallel ssh busybox toybox setsid stdbuf ' +
    'watch strace flock npx pnpx bunx uvx rm rmdir shred unlink dd mkfs mv cp ln chmod chown chgrp install tee truncate rsync ' +
    'scp curl wget nc ncat socat kill pkill killall crontab at reboot shutdown tar unzip ' +
    'vi vim nvim emacs nano less more man screen tmux expect gdb script ' +
    // A later flag can make any other use run a program or write any file.
    'patch rollup pylint tox ctest meson protoc rustc mvn bazel rake apt apt-get'
  ).split(' '),
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
    'gh (alias|api|extension|codespace|auth|repo (clone|fork)|gist clone)',
    'kubectl (exec|delete|run|config|edit|debug|attach|cp)',
    'helm (install|upgrade|template|plugin)',
    'go (run|generate|tool|build|install|vet|list|get)',
    'cargo run',
    'uv (run|tool)',
    'poetry (run|shell)',
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

function proposeRule(words: readonly string[]): string | undefined {
  const [name = ''] = words;
  // `python3.11` is python.
  if (!/^[\w.+-]+$/.test(name) || neverAlways.has(name) || neverAlways.has(name.replace(/[\d.]+$/, '')))
    return undefined;
  // Its harmless uses need no rule; the others differ only in their flags.
  if (readOnlyJudge(name) && !Object.hasOwn(nameLengths, name)) return undefined;
  if (tools.has(name)) return `${name} *`;
  if (!Object.hasOwn(nameLengths, name)) return theseWords(words);
  const length = nameLengths[words.slice(0, 2).join(' ')] ?? nameLengths[name] ?? 1;
  const prefix = words.slice(0, length);
  const isPlain = prefix.length === length && prefix.slice(1).every((word) => /^\w[\w:@/.-]*$/.test(word));
  const action = prefix.join(' ');
  return isPlain && mayVary(action) ? `${action} *` : undefined;
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
