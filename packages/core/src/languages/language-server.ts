import type { Visibility } from '../files/access/visibility.js';
import type { ContainedProgram } from '../process/run/contained-program.js';
import type { CheckedChange } from '../tools/file-change-tool.js';
import type { Language } from './known-languages.js';
import { newProblems, type ProblemsByFile } from './new-problems.js';
import { OpenDocuments } from './open-documents.js';
import { type Problem, problemsIn } from './problem.js';
import { ProjectFiles } from './project-files.js';
import { field, foldersOf, uriOf } from './protocol.js';
import { readSmallText } from './read-small-text.js';
import { ServerConnection } from './server-connection.js';
import { tsserverProblems } from './tsserver-problems.js';

/** How many files that import a changed one are checked with it. */
const maxImporters = 40;

/** What a change made wrong, and all that is wrong now in the files that were checked. */
export interface CheckResult {
  found: Problem[];
  now: ProblemsByFile;
}

/**
 * One server and the files of its language: it knows the texts we show it and says what is wrong with them. Loaded when
 * a server starts, because it brings the library of the protocol.
 */
export class LanguageServer {
  readonly connection: ServerConnection;
  readonly #roots: readonly string[];
  readonly #files: ProjectFiles;
  readonly #documents: OpenDocuments;
  #capabilities: unknown;

  constructor(program: ContainedProgram, language: Language, roots: readonly string[], visibility: Visibility) {
    this.#roots = roots;
    this.#files = new ProjectFiles(roots, Object.values(language.extensions).flat(), visibility);
    this.connection = new ServerConnection(program, roots, (method, params) => this.#documents.hear(method, params));
    this.#documents = new OpenDocuments(this.connection, language);
    void this.connection.ended.then(() => this.#files.close());
  }

  /** To be done before anything else. */
  async initialize(): Promise<void> {
    const workspaceFolders = foldersOf(this.#roots);
    const result = await this.connection.request('initialize', {
      // In a sandbox our process id would name another process, or none, and the server would exit.
      processId: null,
      clientInfo: { name: 'lathe' },
      rootUri: workspaceFolders[0]?.uri ?? null,
      workspaceFolders,
      capabilities: clientCapabilities,
      // The server for JSON would fetch schemas from wherever a file says.
      initializationOptions: { handledSchemaProtocols: ['file'] },
    });
    this.#capabilities = field(result, 'capabilities');
    this.connection.notify('initialized', {});
    this.connection.notify('workspace/didChangeConfiguration', { settings: {} });
  }

  /** Whether the server offers something, such as `definitionProvider`. */
  offers(capability: string): boolean {
    return Boolean(field(this.#capabilities, capability));
  }

  /**
   * The problems that a change makes, in the file and in those that import it. Begins with the text before, waits until
   * the file is written, and continues with the text after; `written` is false when it was not.
   */
  async check(change: CheckedChange, written: Promise<boolean>): Promise<CheckResult> {
    const { path, before, after } = change;
    const shown = this.#documents.textOf(path);
    const isStale = (await this.#catchUp(path)) || (shown !== undefined && shown !== before);
    const importers = await this.#openImporters(path);
    if (before !== null) this.#documents.show(path, before);
    const old = await this.#problemsOf(before === null ? importers : [path, ...importers], { isStale });
    if (!(await written)) return { found: [], now: new Map() };
    this.#documents.show(path, after);
    const uri = uriOf(path);
    this.connection.notify('workspace/didChangeWatchedFiles', { changes: [{ uri, type: before === null ? 1 : 2 }] });
    this.connection.notify('textDocument/didSave', { textDocument: { uri }, text: after });
    const now = await this.#problemsOf([path, ...importers], { isStale: true });
    return { found: await newProblems(old, now, change), now };
  }

  /** Asks about a place in a file as it is on disk. */
  async ask(method: string, path: string, params: object): Promise<unknown> {
    await this.#catchUp('');
    const text = await readSmallText(path);
    if (text !== undefined) this.#documents.show(path, text);
    return this.connection.request(method, { textDocument: { uri: uriOf(path) }, ...params });
  }

  /**
   * Tells the server what others changed on disk; true if it was anything it could know. Not about the file of a change:
   * a server may stay silent about a text that comes back, and on disk it may be the text after already.
   */
  async #catchUp(changing: string): Promise<boolean> {
    const changes = [];
    for (const { path, type } of await this.#files.changes()) {
      const open = this.#documents.textOf(path);
      const text = open === undefined ? undefined : await readSmallText(path);
      if (path === changing || (open !== undefined && text === open)) continue;
      changes.push({ uri: uriOf(path), type });
      if (text === undefined) this.#documents.hide(path);
      else this.#documents.show(path, text);
    }
    if (changes.length > 0) this.connection.notify('workspace/didChangeWatchedFiles', { changes });
    return changes.length > 0;
  }

  async #openImporters(path: string): Promise<string[]> {
    const importers = await this.#files.importersOf(path, maxImporters);
    await Promise.all(
      importers.map(async (file) => {
        const text = this.#documents.textOf(file) ?? (await readSmallText(file));
        if (text !== undefined) this.#documents.show(file, text);
      }),
    );
    this.#documents.hideOldest([path, ...importers]);
    return importers.filter((file) => this.#documents.textOf(file) !== undefined);
  }

  /** The problems of the texts as they are shown now. `isStale`: what was pushed before may be about older texts. */
  async #problemsOf(paths: readonly string[], { isStale }: { isStale: boolean }): Promise<ProblemsByFile> {
    const commands = field(field(this.#capabilities, 'executeCommandProvider'), 'commands');
    const isTsserver = Array.isArray(commands) && commands.includes('typescript.tsserverRequest');
    const isPulled = this.offers('diagnosticProvider');
    if (!isPulled && !isTsserver) return this.#documents.pushed(paths, { isStale });
    const execute = (params: object) => this.connection.request('workspace/executeCommand', params);
    const ask = (path: string) => (isPulled ? this.#pull(path) : tsserverProblems(path, execute));
    return new Map(await Promise.all(paths.map(async (path) => [path, await ask(path)] as const)));
  }

  async #pull(path: string): Promise<Problem[]> {
    const params = { textDocument: { uri: uriOf(path) } };
    const ask = () => this.connection.request('textDocument/diagnostic', params);
    // A server may drop a request when a text changes under it, and wants to be asked again.
    const report = await ask().catch(() => ask());
    return problemsIn(path, field(report, 'items'));
  }
}

/** What we understand, and no more: nothing here lets a server change files or register for more. */
const clientCapabilities = {
  window: { workDoneProgress: true },
  workspace: { configuration: true, workspaceFolders: true, applyEdit: false },
  textDocument: {
    synchronization: { didSave: true },
    publishDiagnostics: { versionSupport: true },
    diagnostic: {},
    hover: { contentFormat: ['plaintext', 'markdown'] },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    rename: {},
  },
};
