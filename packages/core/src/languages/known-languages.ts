/** A program that serves a language, and how it is started. */
export interface ServerProgram {
  /** A file name, looked up in the project and on `PATH`. */
  program: string;
  args: readonly string[];
  /** It never runs anything of the project it reads, so it may start in a folder that nobody trusts. */
  onlyReads?: true;
  /** It writes in the project, such as the build directory of cargo. */
  writes?: true;
  /** Only this major version of the npm package, or a later one, is a server. */
  since?: number;
}

/** A programming language and the servers for it, best first. */
export interface Language {
  name: string;
  /** By file name extension, the id that the protocol uses for the language. */
  extensions: Readonly<Record<string, string>>;
  /** Files in the root of a project that show it is written in the language. */
  markers: readonly string[];
  servers: readonly ServerProgram[];
}

/** The languages that need no setting. */
export const knownLanguages: readonly Language[] = [
  {
    name: 'typescript',
    extensions: {
      ...idsOf('typescript', '.ts', '.mts', '.cts'),
      ...idsOf('javascript', '.js', '.mjs', '.cjs'),
      '.tsx': 'typescriptreact',
      '.jsx': 'javascriptreact',
    },
    markers: ['tsconfig.json', 'jsconfig.json', 'package.json'],
    servers: [
      { program: 'tsc', args: ['--lsp', '--stdio'], onlyReads: true, since: 7 },
      { program: 'typescript-language-server', args: ['--stdio'] },
    ],
  },
  {
    name: 'python',
    extensions: idsOf('python', '.py', '.pyi'),
    markers: ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', 'pyrightconfig.json'],
    servers: [
      { program: 'pyright-langserver', args: ['--stdio'] },
      { program: 'pylsp', args: [] },
    ],
  },
  {
    name: 'go',
    extensions: idsOf('go', '.go'),
    markers: ['go.mod', 'go.work'],
    servers: [{ program: 'gopls', args: [] }],
  },
  {
    name: 'rust',
    extensions: idsOf('rust', '.rs'),
    markers: ['Cargo.toml'],
    servers: [{ program: 'rust-analyzer', args: [], writes: true }],
  },
  {
    name: 'c',
    extensions: { ...idsOf('c', '.c', '.h'), ...idsOf('cpp', '.cc', '.cpp', '.cxx', '.hh', '.hpp', '.hxx') },
    markers: ['compile_commands.json', 'compile_flags.txt', 'CMakeLists.txt', '.clangd'],
    servers: [
      { program: 'clangd', args: ['--background-index=false', '--use-dirty-headers', '--log=error'], onlyReads: true },
    ],
  },
  {
    name: 'shell',
    extensions: idsOf('shellscript', '.sh', '.bash'),
    markers: [],
    servers: [{ program: 'bash-language-server', args: ['start'], onlyReads: true }],
  },
  {
    name: 'json',
    extensions: { '.json': 'json', '.jsonc': 'jsonc' },
    markers: [],
    servers: [{ program: 'vscode-json-language-server', args: ['--stdio'], onlyReads: true }],
  },
  {
    name: 'html',
    extensions: idsOf('html', '.html', '.htm'),
    markers: [],
    servers: [{ program: 'vscode-html-language-server', args: ['--stdio'], onlyReads: true }],
  },
  {
    name: 'css',
    extensions: { '.css': 'css', '.scss': 'scss', '.less': 'less' },
    markers: [],
    servers: [{ program: 'vscode-css-language-server', args: ['--stdio'], onlyReads: true }],
  },
];

function idsOf(id: string, ...extensions: string[]): Record<string, string> {
  return Object.fromEntries(extensions.map((extension) => [extension, id]));
}

/** One entry of the setting `languages`: a server of the user's own, or `false` for none. */
export type LanguageSetting =
  | false
  | { readonly command: string; readonly args?: readonly string[]; readonly extensions?: readonly string[] };

/** The known languages with what the settings change. A language of the settings wins over known ones by extension. */
export function languagesOf(settings: Readonly<Record<string, LanguageSetting>>): Language[] {
  const known = knownLanguages.filter(({ name }) => !Object.hasOwn(settings, name));
  const own = Object.entries(settings).flatMap(([name, setting]): Language[] => {
    if (setting === false) return [];
    const base = knownLanguages.find((language) => language.name === name);
    const extensions = setting.extensions ? idsOf(name, ...setting.extensions.map(withDot)) : (base?.extensions ?? {});
    const server = { program: setting.command, args: setting.args ?? [], writes: true } as const;
    return [{ name, extensions, markers: base?.markers ?? [], servers: [server] }];
  });
  return [...own, ...known];
}

function withDot(extension: string): string {
  return extension.startsWith('.') ? extension : `.${extension}`;
}
