import { untilAborted } from '@lathe/core/host';

/** Runs at most `count` tasks at once. The others wait in the order they came. */
export class ConcurrencyLimit {
  #free: number;
  #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }

  async #turn(signal: AbortSignal): Promise<void> {
    let start: (() => void) | undefined;
    const turn = new Promise<void>((resolve) => this.#waiting.push((start = resolve)));
    await untilAborted(turn, signal).catch((error: unknown) => {
      // A task that ended at the moment of the abort has passed its place on to this one.
      if (this.#waiting.every((each) => each !== start)) this.#release();
      else this.#waiting = this.#waiting.filter((each) => each !== start);
      throw error;
    });
  }
}
