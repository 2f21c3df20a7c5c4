import { delimiter, isAbsolute } from 'node:path';

export interface EnvironmentOptions {
  /** Names to let through besides the built-in list; a trailing `*` matches any ending. */
  allow?: readonly string[];
  /** Variables to set, whatever the parent has. */
  set?: Readonly<Record<string, string>>;
}

/**
 * The environment of a program that Lathe starts: an allow list, because a list of secrets to remove is never complete.
 * The same list serves commands, MCP servers, discovery commands and hooks.
 */
export function childEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  options: EnvironmentOptions = {},
): Record<string, string> {
  const allowed = [...allowedNames, ...(options.allow ?? [])];
  const kept = Object.entries(source).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && allowed.some((name) => matches(name, entry[0])) && !carriesCredentials(entry[1]),
  );
  const environment = Object.fromEntries(kept);
  return { ...environment, PATH: absoluteEntries(environment['PATH'] ?? defaultPath), ...options.set };
}

/** Makes programs that expect a user at a terminal answer instead of waiting. */
export const unattendedVariables: Readonly<Record<string, string>> = {
  LATHE: '1',
  QWEN_CODE: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  // `git status` does not write the index, so the user's own commands never wait for its lock. `git diff` may still
  // write file times into the index.
  GIT_OPTIONAL_LOCKS: '0',
  // Otherwise a repository could make git read a submodule with the submodule's own configuration.
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'diff.submodule',
  GIT_CONFIG_VALUE_0: 'short',
  // An editor that accepts the proposed text: `git rebase --continue` continues, `git commit` without a message fails.
  GIT_EDITOR: ':',
  DEBIAN_FRONTEND: 'noninteractive',
  // npm would ask the registry for a newer npm, even for `npm ls`.
  NPM_CONFIG_UPDATE_NOTIFIER: 'false',
};

const allowedNames = [
  ...`PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TERM COLORTERM NO_COLOR TMPDIR TZ CI XDG_CONFIG_HOME
     XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy
     SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE JAVA_HOME GOPATH GOROOT CARGO_HOME RUSTUP_HOME
     NVM_DIR PNPM_HOME VOLTA_HOME BUN_INSTALL PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX ANDROID_HOME NIX_PROFILES NIX_PATH`.split(
    /\s+/,
  ),
  // Windows cannot start a program without these.
  ...'SystemRoot ComSpec PATHEXT TEMP TMP USERPROFILE APPDATA LOCALAPPDATA'.split(' '),
];

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

/** A proxy address may hold a password: `http://name:secret@host`. */
function carriesCredentials(value: string): boolean {
  return /\b[a-z][a-z0-9+.-]*:\/\/[^\s/@]+@/i.test(value);
}

/** A relative entry would let the directory a command runs in decide which program runs. */
function absoluteEntries(path: string): string {
  return path
    .split(delimiter)
    .filter((entry) => isAbsolute(entry))
    .join(delimiter);
}
