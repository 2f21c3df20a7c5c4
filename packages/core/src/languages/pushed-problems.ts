import type { ProblemsByFile } from './new-problems.js';
import type { Problem } from './problem.js';

/** Some servers send a part first: problems count when no others have come for so long. */
const settledMs = 200;
/** When files are missing, they are waited for until nothing has come for so long. */
const silentMs = 400;
const lookMs = 20;
/** The longest a server may take until it pushes. */
const patienceMs = 60_000;

const maxAtWork = 100;

interface Push {
  /** Of the text that the problems are for; absent when the server does not say. */
  version: number | undefined;
  problems: readonly Problem[];
  /** Counts pushes. */
  order: number;
}

/** The problems that a server sends unasked, and waiting for those about a certain version. */
export class PushedProblems {
  readonly #pushes = new Map<string, Push>();
  /** The number of pushes when the text of a file was last sent. */
  readonly #sentAt = new Map<string, number>();
  /** What the server says it is busy with. */
  readonly #atWork = new Set<unknown>();
  #order = 0;
  #lastAt = 0;

  add(path: string, version: unknown, problems: readonly Problem[]): void {
    const known = typeof version === 'number' ? version : undefined;
    this.#pushes.set(path, { version: known, problems, order: ++this.#order });
    this.#lastAt = performance.now();
  }

  /** The server began or ended something, as `$/progress` says. */
  progress(token: unknown, kind: unknown): void {
    if (kind === 'begin' && this.#atWork.size < maxAtWork) this.#atWork.add(token);
    else if (kind === 'end') this.#atWork.delete(token);
    this.#lastAt = performance.now();
  }

  /** A text of the file was sent: a push without a version counts only from now on. */
  sent(path: string): void {
    this.#sentAt.set(path, this.#order);
  }

  forget(path: string): void {
    this.#pushes.delete(path);
    this.#sentAt.delete(path);
  }

  /** Whether the last push was about this version. */
  isFor(path: string, wanted: number | undefined): boolean {
    const push = this.#pushes.get(path);
    if (push === undefined) return false;
    return push.version === undefined ? push.order > (this.#sentAt.get(path) ?? 0) : push.version === wanted;
  }

  /**
   * Waits for a push about each of these versions. A file that the server stays silent about is left out. Fails when there
   * is none about the first file.
   */
  async wait(versions: ReadonlyMap<string, number>, ended: Promise<string>): Promise<ProblemsByFile> {
    const paths = [...versions.keys()];
    const [first] = paths;
    const isCurrent = (path: string) => this.isFor(path, versions.get(path));
    if (first === undefined || paths.every(isCurrent)) return this.#known(paths);
    await this.#until((quiet) => {
      if (!isCurrent(first) || this.#atWork.size > 0) return false;
      return quiet >= (paths.every(isCurrent) ? settledMs : silentMs);
    }, ended);
    return this.#known(paths.filter(isCurrent));
  }

  #known(paths: readonly string[]): ProblemsByFile {
    return new Map(paths.map((path) => [path, this.#pushes.get(path)?.problems ?? []]));
  }

  /** Looks again and again, with the time since the server last sent something. */
  #until(isDone: (quietMs: number) => boolean, ended: Promise<string>): Promise<void> {
    const begin = performance.now();
    this.#lastAt = begin;
    return new Promise((resolve, reject) => {
      const look = () => {
        const now = performance.now();
        if (isDone(now - this.#lastAt)) finish();
        else if (now - begin > patienceMs) finish(new Error('it sent no problems'));
      };
      const timer = setInterval(look, lookMs);
      const finish = (error?: Error) => {
        clearInterval(timer);
        if (error) reject(error);
        else resolve();
      };
      void ended.then((reason) => finish(new Error(reason)));
    });
  }
}
