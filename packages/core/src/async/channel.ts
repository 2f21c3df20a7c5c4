/** Carries events from running work to a loop that reads them, which may be slower. */
export class Channel<T> {
  #waiting: T[] = [];
  #wake: () => void = () => {};

  push(event: T): void {
    this.#waiting.push(event);
    this.#wake();
  }

  /** Yields what is pushed until `work` has settled and everything pushed before that was read. Returns its result. */
  async *until<R>(work: Promise<R>): AsyncGenerator<T, R> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
      this.#wake();
    };
    work.then(settle, settle);
    while (true) {
      const batch = this.#waiting;
      this.#waiting = [];
      yield* batch;
      if (this.#waiting.length > 0) continue;
      if (isSettled) return work;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
