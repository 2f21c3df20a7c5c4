import { setImmediate as turn } from 'node:timers/promises';

/** Lets the event loop turn now and then during long work on memory. */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  readonly #sliceMs: number;
  #since = performance.now();

  constructor(signal?: AbortSignal, sliceMs = 10) {
    this.#signal = signal;
    this.#sliceMs = sliceMs;
  }

  /** True when it is time to call `rest`. */
  get isTired(): boolean {
    return performance.now() - this.#since > this.#sliceMs;
  }

  async rest(): Promise<void> {
    await turn();
    this.#signal?.throwIfAborted();
    this.#since = performance.now();
  }
}
