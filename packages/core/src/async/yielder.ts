import { setImmediate as turn } from 'node:timers/promises';

/** Short: garbage collection and a busy machine come on top. */
const sliceMs = 5;

/** Lets the event loop turn now and then during long work on memory. */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  #since = performance.now();

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** True when it is time to call `rest`. */
  get isTired(): boolean {
    return performance.now() - this.#since > sliceMs;
  }

  async rest(): Promise<void> {
    await turn();
    this.#signal?.throwIfAborted();
    this.#since = performance.now();
  }
}
