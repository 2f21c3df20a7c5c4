import { setTimeout as wait } from 'node:timers/promises';
import { type Language, languageIdOf } from './known-languages.js';
import type { ProblemsByFile } from './new-problems.js';
import { type Problem, problemsIn } from './problem.js';
import { field, pathOf, uriOf } from './protocol.js';
import type { ServerConnection } from './server-connection.js';

const maxOpenDocuments = 100;
/** Some servers send a part first: problems count when no others have come for so long. */
const settledMs = 200;
/** When files are missing, they are waited for until nothing has come for so long, or for as long as the first one took. */
const silentMs = 400;
/** The longest a server may take until it pushes. */
const patienceMs = 60_000;
const maxTasks = 100;

interface OpenDocument {
  version: number;
  text: string;
  /** What the server sent unasked about this version. */
  pushed?: readonly Problem[] | undefined;
  /** What it sent about an earlier version with the same text, which some servers do not repeat. */
  earlier: readonly Problem[] | undefined;
}

/** The texts that a server is shown, and the problems that it pushes about them. */
export class OpenDocuments {
  readonly #connection: ServerConnection;
  readonly #language: Language;
  readonly #documents = new Map<string, OpenDocument>();
  /** What the server says it is busy with. */
  readonly #tasks = new Set<unknown>();
  #heardAt = 0;

  constructor(connection: ServerConnection, language: Language) {
    this.#connection = connection;
    this.#language = language;
  }

  textOf(path: string): string | undefined {
    return this.#documents.get(path)?.text;
  }

  /** Opens a document, or replaces its text if that is another one. A byte order mark is not part of it. */
  show(path: string, content: string): void {
    const text = content.replace(/^\ufeff/, '');
    if (this.textOf(path) !== text) this.#send(path, text);
  }

  hide(path: string): void {
    if (this.#documents.delete(path))
      this.#connection.notify('textDocument/didClose', { textDocument: { uri: uriOf(path) } });
  }

  /** Closes the oldest documents, except those that are needed, when there are too many. */
  hideOldest(needed: readonly string[]): void {
    for (const path of this.#documents.keys()) {
      if (this.#documents.size <= maxOpenDocuments) return;
      if (!needed.includes(path)) this.hide(path);
    }
  }

  /** Takes a message of the server: problems that it pushes, and tasks that it begins, announces or ends. */
  hear(method: unknown, params: unknown): void {
    const [token, kind] = [field(params, 'token'), field(field(params, 'value'), 'kind')];
    const isBegin = method === 'window/workDoneProgress/create' || kind === 'begin';
    if (method === 'textDocument/publishDiagnostics') this.#push(params);
    else if (isBegin && this.#tasks.size < maxTasks) this.#tasks.add(token);
    else if (kind === 'end') this.#tasks.delete(token);
    else return;
    this.#heardAt = performance.now();
  }

  /**
   * Waits for a push about each of these texts. `isStale`: what was pushed before may be from before other texts changed,
   * so each is sent again as a new version, unless its own change is still unanswered and it is the first. A file that the
   * server stays silent about is left out. Fails when that is the first.
   */
  async pushed(paths: readonly string[], { isStale }: { isStale: boolean }): Promise<ProblemsByFile> {
    const isPushed = (path: string) => this.#documents.get(path)?.pushed !== undefined;
    const [first = ''] = paths;
    for (const path of paths) {
      const text = this.textOf(path);
      if (isStale && text !== undefined && (path !== first || isPushed(path))) this.#send(path, text);
    }
    const known = () => new Map(paths.filter(isPushed).map((path) => [path, this.#documents.get(path)?.pushed ?? []]));
    if (paths.every(isPushed)) return known();
    const begin = performance.now();
    this.#heardAt = begin;
    let firstTook = Number.POSITIVE_INFINITY;
    const isSettled = () => {
      if (isPushed(first)) firstTook = Math.min(firstTook, performance.now() - begin);
      const quiet = performance.now() - this.#heardAt;
      const open = this.#documents.get(first);
      // A server that stays silent for long about a text that was sent again has nothing else to say about it.
      if (open && quiet >= 2 * silentMs) open.pushed ??= open.earlier;
      return this.#tasks.size === 0 && quiet >= (paths.every(isPushed) ? settledMs : Math.max(silentMs, firstTook));
    };
    while (!isSettled()) {
      if (this.#connection.isOver) throw new Error(await this.#connection.ended);
      if (performance.now() - begin > patienceMs) throw new Error('it sent no problems');
      await wait(20);
    }
    return known();
  }

  /** Problems of another version of a text do not count. */
  #push(params: unknown): void {
    const path = pathOf(field(params, 'uri')) ?? '';
    const open = this.#documents.get(path);
    const version = field(params, 'version') ?? open?.version;
    if (open?.version === version && open) open.pushed = problemsIn(path, field(params, 'diagnostics'));
  }

  #send(path: string, text: string): void {
    const uri = uriOf(path);
    const open = this.#documents.get(path);
    const version = (open?.version ?? 0) + 1;
    const earlier = open?.text === text ? (open.pushed ?? open.earlier) : undefined;
    this.#documents.set(path, { version, text, earlier });
    const [method, params] = open
      ? ['textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] }]
      : [
          'textDocument/didOpen',
          { textDocument: { uri, languageId: languageIdOf(this.#language, path), version, text } },
        ];
    this.#connection.notify(method, params);
  }
}
