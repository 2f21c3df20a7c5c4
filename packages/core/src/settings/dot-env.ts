import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { thrownText } from '../contract/errors.js';
import { foreignHand, readBounded } from './read-bounded.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface DotEnvPlaces {
  /** Folders from the current one up to the project's root; empty when the project is not trusted. */
  project: readonly string[];
  /** The folder of the settings and the home folder of the user. */
  latheHome: string;
  home: string;
  /** `~/.qwen` counts; it does when left out. */
  readsQwenHome?: boolean;
}

export interface DotEnvResult {
  env: Record<string, string | undefined>;
  /** Which variables came from which file. */
  files: { file: string; names: string[] }[];
  refused: { file: string; name: string; reason: string }[];
  problems: { file: string; message: string }[];
}

/**
 * The environment with what `.env` files add. The nearest project file counts, then the nearest file in the home
 * folder. Existing variables are never changed.
 */
export function loadDotEnv(env: Environment, places: DotEnvPlaces): DotEnvResult {
  const merged: DotEnvResult['env'] = Object.assign(Object.create(null), env);
  const result: DotEnvResult = { env: merged, files: [], refused: [], problems: [] };
  const project = places.project.flatMap((folder) => [
    join(folder, '.lathe', '.env'),
    join(folder, '.qwen', '.env'),
    join(folder, '.env'),
  ]);
  const qwen = join(places.home, '.qwen', '.env');
  const home = [join(places.latheHome, '.env'), qwen, join(places.home, '.env')];
  const projectOnly = project.filter((file) => !home.includes(file));
  addFirst(projectOnly, refusalInProject, result);
  addFirst(places.readsQwenHome === false ? home.filter((file) => file !== qwen) : home, refusalAnywhere, result);
  return result;
}

/** From `folder` up to `root`, nearest first; only `folder` when it is not inside `root`. */
export function foldersUpTo(folder: string, root: string): string[] {
  const folders: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    folders.push(at);
    if (at === root) return folders;
    if (at === dirname(at)) return [root];
  }
}

function addFirst(files: readonly string[], refusal: (name: string) => string | undefined, result: DotEnvResult): void {
  for (const file of files) {
    const text = readOrReport(file, result);
    if (text === undefined) continue;
    const names: string[] = [];
    for (const [name, value] of Object.entries(parseEnv(text.replace(/^\uFEFF/, '')))) {
      const reason = refusal(name);
      if (reason !== undefined) result.refused.push({ file, name, reason });
      else if (result.env[name] === undefined) {
        result.env[name] = value;
        names.push(name);
      }
    }
    result.files.push({ file, names });
    return;
  }
}

function readOrReport(file: string, result: DotEnvResult): string | undefined {
  try {
    return readBounded(file, 256 * 1024, (info) => {
      const doubt = foreignHand(info);
      if (doubt !== undefined) throw new Error(`The file is ignored: ${doubt}.`);
    });
  } catch (error) {
    result.problems.push({ file, message: thrownText(error) });
    return undefined;
  }
}

/** Variables that control which code other programs load, or which servers and credentials they use. */
const loaders =
  /^(?:NODE_.*|NPM_CONFIG_.*|LD_.*|DYLD_.*|_RLD.*|GCONV_PATH|PATH|PATHEXT|HOME|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|XDG_.*|SHELL|COMSPEC|SYSTEMROOT|IFS|ENV|BASH_ENV|BASH_FUNC_.*|PROMPT_COMMAND|PS4|ZDOTDIR|FPATH|PYTHON.*|PERL.*|RUBY.*|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|GIT_.*|SSH_.*|EDITOR|VISUAL|PAGER|LESSOPEN|LESSCLOSE|BROWSER|TMPDIR|TMP|TEMP|ELECTRON_RUN_AS_NODE|OPENSSL_.*|SSL_.*|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|(?:HTTPS?|ALL|NO|FTP)_PROXY|JAVA_HOME|GOPATH|GOROOT|CARGO_HOME|RUSTUP_HOME|NVM_DIR|PNPM_HOME|VOLTA_HOME|BUN_INSTALL|PYENV_ROOT|VIRTUAL_ENV|CONDA_PREFIX|ANDROID_HOME|NIX_.*|LATHE_HOME|QWEN_HOME|__PROTO__|CONSTRUCTOR|PROTOTYPE|.*\.DLL)$/;
const endpoints = /(?:^|_)(?:BASE_?URLS?|API_BASE|API_URL|ENDPOINTS?|API_HOST)$|^OLLAMA_HOST$/;

function refusalAnywhere(name: string): string | undefined {
  return loaders.test(name.toUpperCase()) ? 'it changes which code is loaded or trusted' : undefined;
}

function refusalInProject(name: string): string | undefined {
  const upper = name.toUpperCase();
  if (/^(?:LATHE|QWEN|OTEL)_/.test(upper)) return 'only the user may set it';
  if (upper === 'DEBUG' || upper === 'DEBUG_MODE') return 'projects use it for themselves';
  if (endpoints.test(upper)) return 'a project must not choose where keys are sent';
  return refusalAnywhere(name);
}
