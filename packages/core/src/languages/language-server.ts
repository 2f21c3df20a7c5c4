import { foldersOf, pathOf, uriOf } from './file-uri.js';
import { newProblems, type ProblemsByFile, type TextChanged } from './new-problems.js';
import { field, type Problem, problemsIn } from './problem.js';
import type { ProjectFiles } from './project-files.js';
import { PushedProblems } from './pushed-problems.js';
import { readSmallText } from './read-small-text.js';
import type { ServerConnection } from './server-connection.js';
import { tsserverProblems } from './tsserver-problems.js';

/** How many files that import a changed one are checked with it. */
const maxImporters = 40;
const maxOpenDocuments = 100;

/** Where a server gets its problems from. */
type Source = 'pull' | 'tsserver' | 'push';

interface OpenDocument {
  version: number;
  text: string;
}

/** What a change made wrong, and all that is wrong now in the files that were checked. */
export interface CheckResult {
  found: Problem[];
  now: ProblemsByFile;
}

export interface LanguageServerOptions {
  connection: ServerConnection;
  files: ProjectFiles;
  roots: readonly string[];
  /** The protocol's name of the language of a file. */
  languageIdOf: (path: string) => string;
}

/** One server after its start: it knows the texts we show it and says what is wrong with them. */
export class LanguageServer {
  readonly #options: LanguageServerOptions;
  readonly #documents = new Map<string, OpenDocument>();
  readonly #pushed = new PushedProblems();
  #capabilities: unknown;
  #source: Source = 'push';

  static async start(options: LanguageServerOptions): Promise<LanguageServer> {
    const server = new LanguageServer(options);
    await server.#initialize();
    return server;
  }

  private constructor(options: LanguageServerOptions) {
    this.#options = options;
  }

  /** Whether the server offers something, such as `definitionProvider`. */
  offers(capability: string): boolean {
    return Boolean(field(this.#capabilities, capability));
  }

  /**
   * The problems that a change makes, in the file and in those that import it. Begins with the text before, waits until
   * the file is written, and goes on with the text after; `written` is false when it was not.
   */
  async check(change: TextChanged, written: Promise<boolean>): Promise<CheckResult> {
    const { path, before, after } = change;
    const isStale = await this.#catchUp();
    const importers = await this.#openImporters(path);
    if (before !== null) this.#show(path, before);
    const old = await this.#problemsOf(before === null ? importers : [path, ...importers], { isStale });
    if (!(await written)) return { found: [], now: new Map() };
    this.#show(path, after);
    this.#notify('workspace/didChangeWatchedFiles', { changes: [{ uri: uriOf(path), type: before === null ? 1 : 2 }] });
    this.#notify('textDocument/didSave', { textDocument: { uri: uriOf(path) }, text: after });
    const now = await this.#problemsOf([path, ...importers], { isStale: true });
    return { found: await newProblems(old, now, change), now };
  }

  /** Asks about a place in a file as it is on disk. */
  async ask(method: string, path: string, params: object): Promise<unknown> {
    await this.#catchUp();
    const text = await readSmallText(path);
    if (text !== undefined) this.#show(path, text);
    return this.#options.connection.request(method, { textDocument: { uri: uriOf(path) }, ...params });
  }

  async #initialize(): Promise<void> {
    const { connection, roots } = this.#options;
    connection.onNotification('textDocument/publishDiagnostics', (params) => {
      const path = pathOf(field(params, 'uri'));
      if (path === undefined || !this.#documents.has(path)) return;
      this.#pushed.add(path, field(params, 'version'), problemsIn(path, field(params, 'diagnostics')));
    });
    connection.onProgress = (token, kind) => this.#pushed.progress(token, kind);
    connection.onNotification('$/progress', (params) => {
      this.#pushed.progress(field(params, 'token'), field(field(params, 'value'), 'kind'));
    });
    const [folder] = foldersOf(roots);
    // No process id: in a sandbox it would name another process, or none, and the server would exit.
    const result = await connection.request('initialize', {
      processId: null,
      clientInfo: { name: 'lathe' },
      rootUri: folder?.uri ?? null,
      workspaceFolders: foldersOf(roots),
      capabilities,
    });
    this.#capabilities = field(result, 'capabilities');
    const commands = field(field(this.#capabilities, 'executeCommandProvider'), 'commands');
    if (this.offers('diagnosticProvider')) this.#source = 'pull';
    else if (Array.isArray(commands) && commands.includes('typescript.tsserverRequest')) this.#source = 'tsserver';
    connection.notify('initialized', {});
    connection.notify('workspace/didChangeConfiguration', { settings: {} });
  }

  /** Tells the server what others changed on disk; true if it was anything it could know. */
  async #catchUp(): Promise<boolean> {
    const changes = [];
    for (const { path, type } of await this.#options.files.changes()) {
      const open = this.#documents.get(path);
      const text = open && (await readSmallText(path));
      if (open !== undefined && text === open.text) continue;
      changes.push({ uri: uriOf(path), type });
      if (open !== undefined && text === undefined) this.#hide(path);
      else if (text !== undefined) this.#show(path, text);
    }
    if (changes.length > 0) this.#notify('workspace/didChangeWatchedFiles', { changes });
    return changes.length > 0;
  }

  async #openImporters(path: string): Promise<string[]> {
    const importers = await this.#options.files.importersOf(path, maxImporters);
    await Promise.all(
      importers.map(async (file) => {
        const text = this.#documents.has(file) ? undefined : await readSmallText(file);
        if (text !== undefined) this.#show(file, text);
      }),
    );
    this.#hideOldest(new Set([path, ...importers]));
    return importers.filter((file) => this.#documents.has(file));
  }

  #hideOldest(needed: ReadonlySet<string>): void {
    for (const path of this.#documents.keys()) {
      if (this.#documents.size <= maxOpenDocuments) return;
      if (!needed.has(path)) this.#hide(path);
    }
  }

  /** Opens a document, or replaces its text if that is another one. */
  #show(path: string, text: string): void {
    const open = this.#documents.get(path);
    if (open?.text === text) return;
    const uri = uriOf(path);
    const version = (open?.version ?? 0) + 1;
    this.#documents.set(path, { version, text });
    this.#pushed.sent(path);
    if (open) this.#notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
    else {
      const languageId = this.#options.languageIdOf(path);
      this.#notify('textDocument/didOpen', { textDocument: { uri, languageId, version, text } });
    }
  }

  #hide(path: string): void {
    this.#documents.delete(path);
    this.#pushed.forget(path);
    this.#notify('textDocument/didClose', { textDocument: { uri: uriOf(path) } });
  }

  #notify(method: string, params: object): void {
    this.#options.connection.notify(method, params);
  }

  /** The problems of the texts as they are shown now. `isStale`: what was pushed before may be about older texts. */
  async #problemsOf(paths: readonly string[], { isStale }: { isStale: boolean }): Promise<ProblemsByFile> {
    if (this.#source === 'push') return this.#pushedFor(paths, isStale);
    const pull = this.#source === 'pull' ? this.#pull.bind(this) : this.#askTsserver.bind(this);
    return new Map(await Promise.all(paths.map(async (path) => [path, await pull(path)] as const)));
  }

  async #pull(path: string): Promise<Problem[]> {
    const params = { textDocument: { uri: uriOf(path) } };
    const ask = () => this.#options.connection.request('textDocument/diagnostic', params);
    // A server may drop a request when a text changes under it, and wants to be asked again.
    const report = await ask().catch(() => ask());
    return problemsIn(path, field(report, 'items'));
  }

  async #askTsserver(path: string): Promise<Problem[]> {
    const { connection } = this.#options;
    return tsserverProblems(path, (params) => connection.request('workspace/executeCommand', params));
  }

  /**
   * Gives every document a new version, so that a push about it shows that the server has seen all that was sent before.
   */
  #pushedFor(paths: readonly string[], isStale: boolean): Promise<ProblemsByFile> {
    const versions = new Map<string, number>();
    for (const path of paths) {
      const open = this.#documents.get(path);
      if (open === undefined) continue;
      const isPushed = this.#pushed.isFor(path, open.version);
      if (isStale && (isPushed || path !== paths[0])) this.#renew(path, open);
      versions.set(path, open.version);
    }
    return this.#pushed.wait(versions, this.#options.connection.ended);
  }

  #renew(path: string, open: OpenDocument): void {
    open.version++;
    this.#pushed.sent(path);
    const textDocument = { uri: uriOf(path), version: open.version };
    this.#notify('textDocument/didChange', { textDocument, contentChanges: [{ text: open.text }] });
  }
}

/** What we understand, and no more: nothing here lets a server change files or register for more. */
const capabilities = {
  general: { positionEncodings: ['utf-16'] },
  window: { workDoneProgress: true },
  workspace: { configuration: true, workspaceFolders: true, applyEdit: false },
  textDocument: {
    synchronization: { didSave: true },
    publishDiagnostics: { versionSupport: true },
    diagnostic: {},
    hover: { contentFormat: ['plaintext', 'markdown'] },
    definition: { linkSupport: false },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    rename: {},
  },
};
