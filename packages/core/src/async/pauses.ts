/** Stops the clock of a deadline while work waits for somebody else, such as a person who is asked. */
export class Pauses {
  #count = 0;
  #onChange: (() => void) | undefined;

  get isPaused(): boolean {
    return this.#count > 0;
  }

  /** One deadline at a time listens. */
  listen(onChange: (() => void) | undefined): void {
    this.#onChange = onChange;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#count++;
    this.#onChange?.();
    try {
      return await work();
    } finally {
      this.#count--;
      this.#onChange?.();
    }
  }
}
