/**
 * The names behind protected-paths.ts, one pattern per comma: a run of path segments, found anywhere in a path or,
 * with a leading slash, at its start; `*` stands for any part of one segment. All in lower case.
 */
export const executedNames = list(`
  # this program, and agents like it: settings, hooks, servers to start
  .lathe, .qwen, .claude, .claude.json, .cursor, .gemini, .codex, .aider*, .continue, .windsurf, .roo, .cline,
  .clinerules, .kilocode, .opencode, opencode.json, opencode.jsonc, .kiro, .crush, .crush.json, crush.json,
  .goose, .agents, .mcp.json, mcp.json, .github/copilot-instructions.md,
  # instructions that agents obey
  agents.md, agents.override.md, agents.local.md, qwen.md, claude.md, claude.local.md, gemini.md, .cursorrules,
  .windsurfrules,
  # version control: hooks, filters, aliases
  .git, .gitconfig, .gitmodules, .config/git, .hg, .hgrc, .svn, .jj, .husky, .pre-commit-config.yaml,
  .pre-commit-hooks.yaml, lefthook.yml, lefthook.yaml, .lefthook.yml, .overcommit.yml, .lintstagedrc*,
  # editors: tasks, extensions, interpreters
  .vscode, *.code-workspace, .idea, .fleet, .zed, .nova, *.sublime-project, .vim, .vimrc, .nvimrc, .nvim.lua,
  .exrc, .gvimrc, .config/nvim, .emacs, .emacs.d, .dir-locals.el, .config/helix, .helix, .devcontainer,
  .devcontainer.json, .gitpod.yml, .ideavimrc,
  # continuous integration
  .github/workflows, .github/actions, .gitlab-ci.yml, .circleci, .travis.yml, jenkinsfile, .buildkite,
  azure-pipelines.yml, .azure-pipelines, bitbucket-pipelines.yml, .drone.yml, .woodpecker, .woodpecker.yml,
  .forgejo/workflows, .gitea/workflows, appveyor.yml, .appveyor.yml, .cirrus.yml, .teamcity, cloudbuild.yaml,
  # package managers and runtimes that load code named in a file
  .npmrc, .yarnrc, .yarnrc.yml, .yarn/releases, .yarn/plugins, .pnpmfile.cjs, pnpmfile.js, .pnp.cjs,
  bunfig.toml, .cargo/config, .cargo/config.toml, .pip, pip.conf, pip.ini, .pypirc, .pythonrc, .pythonrc.py,
  sitecustomize.py, usercustomize.py, site-packages/*.pth, .irbrc, .pryrc, .gemrc, .bundle/config, .rprofile,
  .condarc, .mvn, .m2/settings.xml, .gradle/init.gradle*, .gradle/init.d, .gradle/gradle.properties,
  .gradle/config.properties, .sbtopts, .ghci, .gdbinit, .lldbinit,
  # shells and what changes them on entering a directory
  .envrc, .direnv, .direnvrc, .config/direnv, .mise.toml, mise.toml, .mise, .config/mise, .bashrc,
  .bash_profile, .bash_login, .bash_logout, .bash_aliases, .bash_completion, .profile, .inputrc, .zshrc,
  .zshenv, .zprofile, .zlogin, .zlogout, .zsh, .oh-my-zsh, .kshrc, .cshrc, .tcshrc, .login, .config/fish,
  .config/nushell, .config/powershell, microsoft.powershell_profile.ps1, profile.ps1, .xonshrc, .tmux.conf,
  .config/tmux, .screenrc, .wgetrc, .curlrc, .netrc, .terminfo, .dircolors,
  # session start, schedulers, services
  .config/autostart, .config/systemd, .local/share/systemd, .xinitrc, .xsession, .xsessionrc, .xprofile,
  .pam_environment, .config/environment.d, .local/share/applications, .local/share/dbus-1, crontab, cron.d,
  cron.daily, cron.hourly, cron.weekly, cron.monthly, /var/spool/cron, /var/spool/at, anacrontab,
  library/launchagents, library/launchdaemons, library/startupitems, start menu/programs/startup, /etc/systemd,
  /etc/profile, /etc/profile.d, /etc/bash.bashrc, /etc/zsh, /etc/environment, /etc/sudoers, /etc/sudoers.d,
  /etc/pam.d, /etc/ld.so.preload, /etc/ld.so.conf, /etc/ld.so.conf.d, /etc/init.d, /etc/rc.local, /etc/passwd,
  /etc/shadow, /etc/group, /etc/hosts, /etc/udev, /etc/apt, /etc/ssh, /etc/xdg/autostart,
  # programs found by name, and who may log in
  .local/bin, .ssh, .gnupg, .docker, .kube, .aws, .config/gcloud, .azure, .config/gh, .config/containers,
`);

export const secretNames = list(`
  .ssh/id_*, .ssh/*.pem, .ssh/*.key, .ssh/identity, .gnupg, .password-store, .local/share/keyrings,
  .aws/credentials, .aws/sso/cache, .aws/cli/cache, .config/gcloud, .azure, .kube/config, .docker/config.json,
  .config/gh/hosts.yml, .config/hub, .config/glab-cli, .git-credentials, .config/git/credentials, .netrc,
  _netrc, .pypirc, .cargo/credentials, .cargo/credentials.toml, .gem/credentials, .m2/settings-security.xml,
  .pgpass, .my.cnf, .vault-token, .terraform.d/credentials.tfrc.json, .config/rclone, .boto, .s3cfg, .config/op,
  library/keychains, login data, key4.db, logins.json, /etc/shadow, /etc/gshadow, /etc/sudoers,
  /etc/security/opasswd, /etc/ssh/ssh_host_*_key, /etc/ssl/private, /etc/krb5.keytab, /proc/*/environ, /proc/*/mem,
  /proc/*/task/*/environ, /proc/*/task/*/mem, .claude/.credentials.json, .codex/auth.json,
  .qwen/oauth_creds.json, .gemini/oauth_creds.json, .lathe/credentials*, .lathe/oauth*, .lathe/mcp-tokens*,
`);

function list(text: string): string[] {
  return text
    .replace(/#.*/g, '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Parent directories of protected names with several segments: `.github` for `.github/workflows`. */
export const parentNames = new Set(
  executedNames
    .filter((name) => !name.startsWith('/'))
    .flatMap((name) => name.split('/').map((_, count, segments) => segments.slice(0, count).join('/'))),
);
