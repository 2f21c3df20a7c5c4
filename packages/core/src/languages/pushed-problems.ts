import type { ProblemsByFile } from './new-problems.js';
import type { Problem } from './problem.js';

/** After the push about the changed file, others are waited for until none has come for so long. */
const quietMs = 300;
/** The longest a server may take until it pushes. */
const patienceMs = 20_000;

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
  #order = 0;
  #listener: (() => void) | undefined;

  add(path: string, version: unknown, problems: readonly Problem[]): void {
    const known = typeof version === 'number' ? version : undefined;
    this.#pushes.set(path, { version: known, problems, order: ++this.#order });
    this.#listener?.();
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
    const [first] = versions.keys();
    const isCurrent = (path: string) => this.isFor(path, versions.get(path));
    if (first === undefined) return new Map();
    const isUnchanged = [...versions.keys()].every(isCurrent);
    if (isUnchanged) return this.#known([...versions.keys()]);
    await this.#until((sinceLast) => {
      if (!isCurrent(first)) return false;
      const isVersioned = this.#pushes.get(first)?.version !== undefined;
      return sinceLast >= quietMs || (isVersioned && [...versions.keys()].every(isCurrent));
    }, ended);
    return this.#known([...versions.keys()].filter(isCurrent));
  }

  #known(paths: readonly string[]): ProblemsByFile {
    return new Map(paths.map((path) => [path, this.#pushes.get(path)?.problems ?? []]));
  }

  /** Looks at each push, and once more after each quiet time. */
  #until(isDone: (sinceLast: number) => boolean, ended: Promise<string>): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const limit = setTimeout(() => finish(new Error('it sent no problems')), patienceMs);
      const finish = (error?: Error) => {
        clearTimeout(timer);
        clearTimeout(limit);
        this.#listener = undefined;
        if (error) reject(error);
        else resolve();
      };
      const look = (sinceLast: number) => {
        if (isDone(sinceLast)) return finish();
        clearTimeout(timer);
        timer = setTimeout(() => look(quietMs), quietMs);
      };
      this.#listener = () => look(0);
      void ended.then((reason) => finish(new Error(reason)));
      look(0);
    });
  }
}
