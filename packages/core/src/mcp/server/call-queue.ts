/** Calls that change nothing run side by side, all others alone, in the order they came. */
export class CallQueue {
  readonly #waiting: { isShared: boolean; start: () => void }[] = [];
  #running = 0;
  #isTaken = false;

  async run<T>(isShared: boolean, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      this.#waiting.push({ isShared, start });
      this.#startNext();
    });
    try {
      return await work();
    } finally {
      this.#running--;
      this.#isTaken = false;
      this.#startNext();
    }
  }

  #startNext(): void {
    for (let next = this.#waiting[0]; next && this.#hasRoomFor(next); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#running++;
      this.#isTaken = !next.isShared;
      next.start();
    }
  }

  #hasRoomFor({ isShared }: { isShared: boolean }): boolean {
    return isShared ? !this.#isTaken && this.#running < maxParallel : this.#running === 0;
  }
}

const maxParallel = 10;
