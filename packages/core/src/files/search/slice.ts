import { setImmediate } from 'node:timers/promises';

const sliceMs = 8;
/** Pieces of work between two looks at the clock, at most: one may take a thousand times as long as the one before. */
const maxStride = 16;

/** Synchronous work in slices of a few milliseconds: several times faster than the thread pool, and the event loop runs. */
export class Slice {
  readonly #signal: AbortSignal;
  #start = performance.now();
  #looked = this.#start;
  #stride = 1;
  #left = 1;

  constructor(signal: AbortSignal) {
    signal.throwIfAborted();
    this.#signal = signal;
  }

  get isOver(): boolean {
    return performance.now() - this.#start > sliceMs;
  }

  /** Counts a little piece of work; true when it is time to pause. Looks at the clock about once a millisecond. */
  tick(): boolean {
    if (--this.#left > 0) return false;
    const now = performance.now();
    const isSlow = now - this.#looked > 1;
    this.#stride = isSlow ? Math.max(1, this.#stride >> 1) : Math.min(maxStride, this.#stride * 2);
    this.#left = this.#stride;
    this.#looked = now;
    return now - this.#start > sliceMs;
  }

  async pause(): Promise<void> {
    await setImmediate();
    this.#signal.throwIfAborted();
    this.#start = performance.now();
    this.#looked = this.#start;
  }
}
