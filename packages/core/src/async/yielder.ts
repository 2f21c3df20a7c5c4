import { setImmediate } from 'node:timers/promises';

/** Short, because garbage collection and a busy machine come on top. */
const sliceMs = 5;

/**
 * Cuts long synchronous work into slices of a few milliseconds, so that the event loop keeps running. This saves the
 * thread pool's cost per call: `npm run bench -- --only 'list a folder'` shows both the time and the longest stall.
 */
export class Yielder {
  readonly #signal: AbortSignal | undefined;
  #since = performance.now();

  /** Throws when the signal is aborted already. */
  constructor(signal?: AbortSignal) {
    signal?.throwIfAborted();
    this.#signal = signal;
  }

  /** True when it is time to call `yield`. */
  get shouldYield(): boolean {
    return performance.now() - this.#since > sliceMs;
  }

  /** Rejects when the signal was aborted meanwhile. */
  async yield(): Promise<void> {
    await setImmediate();
    this.#signal?.throwIfAborted();
    this.#since = performance.now();
  }
}
