/**
 * What programs keep in a home directory that builds need. Everything else there is out of a sandboxed command's sight,
 * and its dot files ask before a tool reads them. List the smallest directory that works, never one with credentials.
 */
export interface Toolchain {
  /** Which program needs it. */
  program: string;
  /** Below the home directory. */
  root?: string;
  /** A variable that puts the root somewhere else. */
  variable?: string;
  /** Below the root (`.` is the root itself): programs and data, read-only. */
  read?: readonly string[];
  /**
   * Downloads and compiled packages, read-only because other programs execute what is in them. A session whose command
   * had the network has its own from then on, so that a program can add to it.
   */
  cache?: readonly string[];
  /** Where a program insists on writing; the session has its own. */
  own?: readonly string[];
  /** Its own places are there even if the home directory has none. */
  isUsual?: boolean;
}

const all = ['.'];

export const toolchains: readonly Toolchain[] = [
  { program: 'all programs', root: '.cache', variable: 'XDG_CACHE_HOME', own: all, isUsual: true },
  { program: 'all programs', root: '.local/share', variable: 'XDG_DATA_HOME', own: all, isUsual: true },
  { program: 'programs of the user', root: '.local', read: ['bin', 'lib'] },
  { program: 'fonts and terminals', root: '', read: ['.local/share/fonts', '.fonts', '.terminfo'] },

  { program: 'programs on macOS', root: 'Library', read: ['Python', 'Java', 'pnpm', 'Android/sdk', 'Fonts'] },

  { program: 'mise', root: '.local/share/mise', read: all },
  { program: 'asdf', root: '.asdf', variable: 'ASDF_DATA_DIR', read: all },
  { program: 'proto', root: '.proto', read: ['bin', 'shims', 'tools'] },
  { program: 'Nix', root: '', read: ['.nix-profile', '.local/state/nix'] },

  { program: 'nvm', root: '.nvm', variable: 'NVM_DIR', read: all },
  { program: 'fnm', root: '', read: ['.fnm', '.local/share/fnm', '.local/state/fnm_multishells'] },
  { program: 'Volta', root: '.volta', variable: 'VOLTA_HOME', read: all },
  // npm writes to its cache even when it packs a folder.
  { program: 'npm', root: '.npm', own: all, read: ['_npx'] },
  { program: 'Corepack', root: '.cache/node/corepack', read: all },
  { program: 'Yarn', root: '.yarn', own: all, read: ['bin'], cache: ['berry/cache'] },
  { program: 'Yarn 1', root: '.cache/yarn', cache: all },
  { program: 'pnpm', root: '.local/share/pnpm', variable: 'PNPM_HOME', read: all, cache: ['store'] },
  { program: 'Bun', root: '.bun', variable: 'BUN_INSTALL', read: ['bin'], cache: ['install'] },
  { program: 'Deno', root: '', read: ['.deno/bin'], cache: ['.cache/deno'] },
  {
    program: 'browsers for tests',
    root: '.cache',
    read: ['ms-playwright', 'puppeteer', 'Cypress', 'electron', 'selenium'],
  },

  { program: 'pyenv', root: '.pyenv', variable: 'PYENV_ROOT', read: all },
  { program: 'uv', root: '.local/share/uv', read: ['python', 'tools'] },
  { program: 'pipx', root: '.local', read: ['share/pipx', 'pipx'] },
  { program: 'Poetry', root: '', read: ['.local/share/pypoetry/venv', '.cache/pypoetry/virtualenvs'] },
  { program: 'Pipenv and virtualenvwrapper', root: '', read: ['.local/share/virtualenvs', '.virtualenvs'] },
  { program: 'a Python environment', variable: 'VIRTUAL_ENV', read: all },
  { program: 'Conda', variable: 'CONDA_PREFIX', read: all },
  { program: 'Rye', root: '.rye', read: ['shims', 'self', 'py', 'tools'] },
  { program: 'models', root: '.cache', read: ['huggingface/hub', 'torch/hub'] },
  { program: 'pre-commit', root: '.cache/pre-commit', cache: all },

  { program: 'Cargo', root: '.cargo', variable: 'CARGO_HOME', own: all, read: ['bin'], cache: ['registry', 'git'] },
  { program: 'rustup', root: '.rustup', variable: 'RUSTUP_HOME', read: all },
  { program: 'Go', root: 'go', variable: 'GOPATH', own: all, read: ['bin', 'src'], cache: ['pkg'] },
  { program: 'Go itself', root: 'sdk', variable: 'GOROOT', read: all },

  { program: 'Java', root: '.jdks', variable: 'JAVA_HOME', read: all },
  { program: 'SDKMAN', root: '.sdkman', read: all },
  { program: 'jEnv', root: '.jenv', read: all },
  { program: 'Maven', root: '.m2', own: all, read: ['wrapper'], cache: ['repository'] },
  { program: 'Gradle', root: '.gradle', own: all, read: ['jdks'], cache: ['caches', 'wrapper'] },
  { program: 'Kotlin', root: '.konan', read: all },
  { program: 'sbt and Coursier', root: '', read: ['.sbt/boot'], cache: ['.ivy2/cache', '.cache/coursier'] },
  { program: 'Android', root: 'Android/Sdk', variable: 'ANDROID_HOME', read: all },

  { program: 'rbenv', root: '.rbenv', read: all },
  { program: 'RVM', root: '.rvm', read: all },
  { program: 'RubyGems', root: '', read: ['.gem/ruby', '.local/share/gem/ruby'], cache: ['.bundle/cache'] },
  { program: 'Composer', root: '', read: ['.config/composer/vendor', '.composer/vendor'] },
  { program: '.NET', root: '.dotnet', read: all },
  { program: 'NuGet', root: '.nuget', own: all, cache: ['packages'] },
  { program: 'GHCup', root: '.ghcup', read: all },
  { program: 'Cabal', root: '.cabal', read: ['bin'], cache: ['packages', 'store'] },
  { program: 'Stack', root: '.stack', read: ['programs'], cache: ['snapshots', 'pantry'] },
  { program: 'opam', root: '.opam', read: all },
  { program: 'Dart', root: '.pub-cache', read: ['bin', 'global_packages'], cache: ['hosted', 'git'] },
  { program: 'Mix and Hex', root: '', read: ['.mix/archives', '.mix/elixir'], cache: ['.hex/packages'] },
  { program: 'Julia', root: '.julia', cache: ['packages', 'artifacts', 'compiled'] },
  { program: 'Perl, Lua, R', root: '', read: ['perl5', '.luarocks/share', '.luarocks/lib', 'R'] },
  { program: 'Bazelisk', root: '.cache/bazelisk', read: all },
  { program: 'ccache', root: '.ccache', own: all },
];

/** A place of a toolchain as an absolute path. */
export interface HomePlace {
  path: string;
  access: 'read' | 'cache' | 'own';
  isUsual?: boolean;
}
