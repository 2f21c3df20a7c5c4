import type { Segment } from './command-analysis.js';
import { readOnlyJudge } from './read-only-programs.js';

/**
 * The narrowest readable rules that would allow these segments; none when one of them should be asked for every time:
 * interpreters, wrappers, deletions, or anything not fully known.
 */
export function proposeRules(segments: readonly Segment[]): string[] {
  const rules = segments.map((segment) => (segment.hidden ? undefined : proposeRule(segment.words)));
  return rules.every((rule) => rule !== undefined) ? [...new Set(rules)] : [];
}

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

/** Tools of one purpose. Any other program may be an interpreter, so that of those only the very words are proposed. */
const tools = new Set(
  (
    'mkdir touch patch tsc eslint prettier biome oxlint stylelint knip jest vitest mocha ava playwright cypress webpack vite rollup esbuild ' +
    'pytest ruff black isort flake8 mypy pylint pyright tox rustfmt gofmt golangci-lint clang-format clang-tidy shellcheck shfmt ' +
    'yamllint hadolint rubocop rspec phpunit phpstan ctest ninja meson protoc rustc'
  ).split(' '),
);

/** Asked for every time: what these do depends on their arguments entirely. */
const neverAlways = new Set(
  (
    'sh bash rbash dash zsh ksh fish ash python pypy ipython node nodejs deno tsx ts-node ruby perl php lua luajit tclsh osascript pwsh ' +
    'irb ghci R Rscript java jshell groovy scala kotlin swift julia guile racket clojure elixir iex erl octave awk gawk mawk sed ed ex m4 bc dc gnuplot ' +
    'psql mysql mariadb sqlite mongosh redis-cli chroot unshare nsenter runuser pkexec systemd-run bwrap firejail proot fakeroot time ionice ' +
    'taskset chrt ltrace perf valgrind entr direnv nix nix-shell conda pipx ' +
    'env timeout nice nohup xargs sudo doas su command exec eval builtin find parallel ssh busybox toybox setsid stdbuf ' +
    'watch strace flock npx pnpx bunx uvx rm rmdir shred unlink dd mkfs mv cp ln chmod chown chgrp install tee truncate rsync ' +
    'scp curl wget nc ncat socat kill pkill killall crontab at reboot shutdown tar unzip ' +
    'vi vim nvim emacs nano less more man screen tmux expect gdb script'
  ).split(' '),
);
const neverTogether =
  /^(git (submodule foreach|difftool|mergetool|hook|clean|reset|rm|branch|stash (drop|clear)|config|filter-branch|push|diff|log|show|grep|blame|status|rev-parse|ls-files|-c|-C|bisect|rebase)|docker (run|exec)|podman (run|exec)|(npm|pnpm|yarn|bun) (exec|dlx|x|config|set|init|create)|gh (alias|api|extension)|kubectl (exec|delete|run)|go (run|generate|tool)|cargo run|uv (run|tool)|poetry run|(bundle|composer) exec|rails (runner|console)|mix run|dotnet run|bazel run)\b/;

function proposeRule(words: readonly string[]): string | undefined {
  const [name = ''] = words;
  // `python3.11` is python.
  if (!/^[\w.+-]+$/.test(name) || neverAlways.has(name) || neverAlways.has(name.replace(/[\d.]+$/, '')))
    return undefined;
  // Its harmless uses need no rule; those that ask differ only in their flags.
  if (readOnlyJudge(name) && !Object.hasOwn(nameLengths, name)) return undefined;
  if (tools.has(name)) return `${name} *`;
  if (!Object.hasOwn(nameLengths, name)) return theseWords(words);
  const length = nameLengths[words.slice(0, 2).join(' ')] ?? nameLengths[name] ?? 1;
  const prefix = words.slice(0, length);
  const isPlain = prefix.length === length && prefix.slice(1).every((word) => /^\w[\w:@/.-]*$/.test(word));
  if (!isPlain || neverTogether.test(prefix.join(' '))) return undefined;
  return `${prefix.join(' ')} *`;
}

/** A rule holds for longer commands too, so that the last word must not wait for another. */
function theseWords(words: readonly string[]): string | undefined {
  const isPlain = words.length > 1 && words.every((word) => /^[\w./:@=+,-]+$/.test(word));
  return isPlain && !words.at(-1)?.startsWith('-') ? words.join(' ') : undefined;
}
