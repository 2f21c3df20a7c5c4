import { extname } from 'node:path';
import type { Visibility } from '../files/access/visibility.js';
import type { ContainedProgram } from '../process/run/contained-program.js';
import { type FoundServer, findServer, type ServerPlaces, type ServerSearch } from './find-server.js';
import type { Language } from './known-languages.js';
import { LanguageServer } from './language-server.js';
import { ProjectFiles } from './project-files.js';
import type { ServerConnection } from './server-connection.js';

/** What a server is doing, for people. */
export type ServerState =
  | { status: 'missing' | 'failed'; reason: string }
  | { status: 'found' | 'starting' | 'stopped' }
  | { status: 'ready'; startMs: number };

export interface SlotOptions {
  places: ServerPlaces;
  visibility: Visibility;
  /** Starts the program, contained. */
  start: (found: FoundServer, language: Language) => Promise<ContainedProgram>;
  /** How long an unused server is kept. */
  idleMs: number;
}

const maxRestarts = 5;
const firstPauseMs = 1_000;
/** After this time without a failure, the number of restarts is reset. */
const healthyMs = 60_000;
/** How long "not installed" is believed. */
const searchAgainMs = 30_000;

interface Running {
  server: LanguageServer;
  connection: ServerConnection;
}

/** The place of one language's server: found and started when it is first needed, started again after a failure. */
export class ServerSlot {
  readonly language: Language;
  readonly #options: SlotOptions;
  state: ServerState = { status: 'found' };
  /** Pieces of work that are not done yet. */
  waiting = 0;
  #search: { at: number; result: ServerSearch } | undefined;
  #running: Promise<Running> | undefined;
  /** Of the program that was started last, also while it does not answer yet. */
  #connection: ServerConnection | undefined;
  #restarts = 0;
  #readyAt = 0;
  #notBefore = 0;
  #idle: NodeJS.Timeout | undefined;
  /** Checks happen one after another: each has a text before and one after. */
  #queue: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(language: Language, options: SlotOptions) {
    this.language = language;
    this.#options = options;
  }

  /** The server that would serve this file; looks again from time to time if there was none. */
  find(file: string): ServerSearch {
    const now = performance.now();
    if (this.#search && ('found' in this.#search.result || now - this.#search.at < searchAgainMs))
      return this.#search.result;
    const result = findServer(this.language, file, this.#options.places);
    this.#search = { at: now, result };
    if ('missing' in result) this.state = { status: 'missing', reason: result.missing };
    return result;
  }

  /** False when none is installed, and while a server that failed is given a pause. */
  canServe(file: string): boolean {
    if (this.#isClosed || !('found' in this.find(file))) return false;
    return this.#restarts <= maxRestarts && performance.now() >= this.#notBefore;
  }

  /** Does one piece of work with the server, after those before it. Starts the server if it does not run. */
  use<T>(file: string, work: (server: LanguageServer) => Promise<T>): Promise<T> {
    this.waiting++;
    const result = this.#queue.then(async () => {
      clearTimeout(this.#idle);
      const { server } = await this.#started(file);
      try {
        return await work(server);
      } finally {
        this.#rest();
      }
    });
    this.#queue = result
      .catch(() => undefined)
      .finally(() => {
        this.waiting--;
      });
    return result;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stop('the session ended');
  }

  #started(file: string): Promise<Running> {
    this.#running ??= this.#start(file).catch((error: unknown) => {
      this.#failed(error instanceof Error ? error.message : String(error));
      throw error;
    });
    return this.#running;
  }

  async #start(file: string): Promise<Running> {
    if (this.#isClosed) throw new Error('the session has ended');
    const search = this.find(file);
    if ('missing' in search) throw new Error(search.missing);
    const startedAt = performance.now();
    this.state = { status: 'starting' };
    const { places, visibility, start } = this.#options;
    const { roots } = places;
    const { extensions } = this.language;
    const [program, { ServerConnection: Connection }] = await Promise.all([
      start(search.found, this.language),
      import('./server-connection.js'),
    ]);
    const connection = new Connection(program, roots);
    this.#connection = connection;
    const files = new ProjectFiles(roots, Object.keys(extensions), visibility);
    void connection.ended.then((reason) => this.#lost(connection, files, reason));
    const languageIdOf = (path: string) => extensions[extname(path)] ?? this.language.name;
    try {
      const server = await LanguageServer.start({ connection, files, roots, languageIdOf });
      this.#readyAt = performance.now();
      this.state = { status: 'ready', startMs: Math.round(this.#readyAt - startedAt) };
      return { server, connection };
    } catch (error) {
      connection.close('it did not start');
      throw error;
    }
  }

  async #lost(connection: ServerConnection, files: ProjectFiles, reason: string): Promise<void> {
    files.close();
    const running = await this.#running?.catch(() => undefined);
    if (running?.connection !== connection || this.#isClosed) return;
    if (performance.now() - this.#readyAt > healthyMs) this.#restarts = 0;
    this.#failed(reason);
  }

  /** The next start waits, twice as long after each failure. */
  #failed(reason: string): void {
    this.#running = undefined;
    if (this.#isClosed) return;
    this.state = { status: 'failed', reason };
    this.#notBefore = performance.now() + firstPauseMs * 2 ** this.#restarts++;
  }

  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      this.state = { status: 'stopped' };
      void this.#stop('it was idle');
    }, this.#options.idleMs);
    this.#idle.unref();
  }

  async #stop(reason: string): Promise<void> {
    clearTimeout(this.#idle);
    this.#connection?.close(reason);
    const running = this.#running;
    this.#running = undefined;
    await running?.catch(() => undefined);
    // One that was about to start when this began.
    this.#connection?.close(reason);
    await this.#connection?.ended;
  }
}
