import { thrownText } from '../contract/errors.js';
import type { Visibility } from '../files/access/visibility.js';
import type { ContainedProgram } from '../process/run/contained-program.js';
import { type FoundServer, findServer, type ServerPlaces, type ServerSearch } from './find-server.js';
import type { Language } from './known-languages.js';
import type { CheckResult, LanguageServer } from './language-server.js';
import { oneLine } from './protocol.js';

export interface SlotOptions {
  visibility: Visibility;
  places: ServerPlaces;
  /** Starts the program, contained. */
  start: (found: FoundServer, language: Language) => Promise<ContainedProgram>;
  /** How long an unused server is kept. */
  idleMs?: number;
}

const usualIdleMs = 600_000;
/** Pieces of work that wait for one server. */
const maxWaiting = 8;
const maxRestarts = 5;
const firstPauseMs = 1_000;
/** After this time without a failure, the number of restarts is reset. */
const healthyMs = 60_000;
/** How long "not installed" is believed. */
const searchAgainMs = 30_000;

/** The place of one language's server: found and started when it is first needed, started again after a failure. */
export class ServerSlot {
  readonly language: Language;
  readonly #options: SlotOptions;
  /** Pieces of work that are not done yet. */
  waiting = 0;
  /** Checks that no result has told of yet. */
  readonly late: Promise<CheckResult>[] = [];
  #search: { at: number; result: ServerSearch } | undefined;
  /** Set while a server starts and runs. */
  #server: Promise<LanguageServer> | undefined;
  /** The server that was started last, also while it does not answer yet. */
  #latest: LanguageServer | undefined;
  #readyAt = Number.POSITIVE_INFINITY;
  #failures = { count: 0, last: '', retryAt: 0 };
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
    return result;
  }

  /**
   * Does one piece of work with the server, after those before it. Starts the server if it does not run; fails at once
   * while one that failed is given a pause.
   */
  use<T>(file: string, work: (server: LanguageServer) => Promise<T>): Promise<T> {
    if (this.waiting >= maxWaiting) return Promise.reject(new Error('it is too slow'));
    this.waiting++;
    const result = this.#queue.then(async () => {
      clearTimeout(this.#idle);
      try {
        return await work(await this.#started(file));
      } finally {
        this.waiting--;
        // Later work waits until the server is gone.
        const stop = () => void (this.#queue = this.#queue.then(() => this.#stop('it was idle')));
        this.#idle = setTimeout(stop, this.#options.idleMs ?? usualIdleMs).unref();
      }
    });
    this.#queue = result.catch(() => undefined);
    return result;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const starting = this.#server;
    await this.#stop('the session ended');
    // One that was about to start when this began.
    await starting?.catch(() => undefined);
    await this.#latest?.connection.ended;
  }

  #started(file: string): Promise<LanguageServer> {
    if (performance.now() < this.#failures.retryAt) throw new Error(this.#failures.last);
    this.#server ??= this.#start(file).catch((error: unknown) => {
      throw new Error(this.#failed(thrownText(error)), { cause: error });
    });
    return this.#server;
  }

  async #start(file: string): Promise<LanguageServer> {
    if (this.#isClosed) throw new Error('the session has ended');
    const search = this.find(file);
    if ('missing' in search) throw new Error(search.missing);
    const { places, visibility, start } = this.#options;
    const [program, { LanguageServer: Server }] = await Promise.all([
      start(search.found, this.language),
      import('./language-server.js'),
    ]);
    const server = new Server(program, this.language, places.roots, visibility);
    this.#latest = server;
    if (this.#isClosed) server.connection.close('the session ended');
    await server.initialize().catch((error: unknown) => {
      server.connection.close('it did not start');
      throw error;
    });
    this.#readyAt = performance.now();
    void server.connection.ended.then((reason) => this.#server && this.#failed(reason));
    return server;
  }

  /** The next start waits, twice as long after each failure. Returns the reason in a form that can be shown. */
  #failed(reason: string): string {
    const now = performance.now();
    const count = now - this.#readyAt > healthyMs ? 0 : this.#failures.count;
    const last = oneLine(reason, 300);
    const retryAt = count < maxRestarts ? now + firstPauseMs * 2 ** count : Number.POSITIVE_INFINITY;
    this.#failures = { count: count + 1, last, retryAt };
    this.#readyAt = Number.POSITIVE_INFINITY;
    this.#server = undefined;
    this.#search = undefined;
    return last;
  }

  async #stop(reason: string): Promise<void> {
    clearTimeout(this.#idle);
    this.#server = undefined;
    this.#latest?.connection.close(reason);
    await this.#latest?.connection.ended;
  }
}
