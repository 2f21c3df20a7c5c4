import { extname } from 'node:path';
import type { Settings } from '../settings/keys.js';

/** A program that serves a language, and how it is started. */
export interface ServerProgram {
  /** A file name, looked up in the project and on `PATH`. */
  program: string;
  args?: readonly string[];
  /** It never runs anything of the project it reads, so it may start in a folder that nobody trusts. */
  onlyReads?: true;
  /** Settings name it. */
  isChosen?: true;
  /** It writes in the project, such as the build directory of cargo. */
  writes?: true;
  /** Only this major version of the npm package, or a later one, is a server. */
  since?: number;
}

/** A programming language and the servers for it, best first. */
export interface Language {
  name: string;
  /** The file name extensions, by the id that the protocol uses for the language. */
  extensions: Readonly<Record<string, readonly string[]>>;
  /** Files in the root of a project that show it is written in the language. */
  markers: readonly string[];
  servers: readonly ServerProgram[];
}

/** The languages that need no setting. */
const knownLanguages: readonly Language[] = [
  {
    name: 'typescript',
    extensions: {
      typescript: ['.ts', '.mts', '.cts'],
      javascript: ['.js', '.mjs', '.cjs'],
      typescriptreact: ['.tsx'],
      javascriptreact: ['.jsx'],
    },
    markers: ['tsconfig.json', 'jsconfig.json', 'package.json'],
    servers: [
      { program: 'tsc', args: ['--lsp', '--stdio'], onlyReads: true, since: 7 },
      { program: 'typescript-language-server', args: ['--stdio'] },
    ],
  },
  {
    name: 'python',
    extensions: { python: ['.py', '.pyi'] },
    markers: ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', 'pyrightconfig.json'],
    servers: [{ program: 'pyright-langserver', args: ['--stdio'] }, { program: 'pylsp' }],
  },
  { name: 'go', extensions: { go: ['.go'] }, markers: ['go.mod', 'go.work'], servers: [{ program: 'gopls' }] },
  {
    name: 'rust',
    extensions: { rust: ['.rs'] },
    markers: ['Cargo.toml'],
    servers: [{ program: 'rust-analyzer', writes: true }],
  },
  {
    name: 'c',
    extensions: { c: ['.c', '.h'], cpp: ['.cc', '.cpp', '.cxx', '.hh', '.hpp', '.hxx'] },
    markers: ['compile_commands.json', 'compile_flags.txt', 'CMakeLists.txt', '.clangd'],
    servers: [
      { program: 'clangd', args: ['--background-index=false', '--use-dirty-headers', '--log=error'], onlyReads: true },
    ],
  },
  sideLanguage('shell', { shellscript: ['.sh', '.bash'] }, 'bash-language-server', 'start'),
  sideLanguage('json', { json: ['.json'], jsonc: ['.jsonc'] }, 'vscode-json-language-server', '--stdio'),
  sideLanguage('html', { html: ['.html', '.htm'] }, 'vscode-html-language-server', '--stdio'),
  sideLanguage('css', { css: ['.css'], scss: ['.scss'], less: ['.less'] }, 'vscode-css-language-server', '--stdio'),
];

/** A language that is in many projects, but no project is written in it. */
function sideLanguage(name: string, extensions: Language['extensions'], program: string, argument: string): Language {
  return { name, extensions, markers: [], servers: [{ program, args: [argument], onlyReads: true }] };
}

/** The protocol's name for the language of a file; `undefined` for a file of other languages. */
export function languageIdOf({ extensions }: Language, path: string): string | undefined {
  return Object.keys(extensions).find((id) => extensions[id]?.includes(extname(path)));
}

/** One entry of the setting `languages`: a server of the user's own, or `false` for none. */
export type LanguageSetting = Settings['languages'][string];

/** The known languages with what the settings change. A language of the settings wins over known ones by extension. */
export function languagesOf(settings: Readonly<Record<string, LanguageSetting>>): Language[] {
  const known = knownLanguages.filter(({ name }) => !Object.hasOwn(settings, name));
  const own = Object.entries(settings).flatMap(([name, setting]): Language[] => {
    if (setting === false) return [];
    const base = knownLanguages.find((language) => language.name === name);
    const extensions = setting.extensions
      ? { [name]: setting.extensions.map((each) => (each.startsWith('.') ? each : `.${each}`)) }
      : (base?.extensions ?? {});
    const server = { program: setting.command, args: setting.args ?? [], writes: true, isChosen: true } as const;
    // A language that only the settings know counts in every project.
    return [{ name, extensions, markers: base?.markers ?? ['.'], servers: [server] }];
  });
  return [...own, ...known];
}
