import { type Dirent, opendirSync, readdirSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { type BytePath, systemPath } from './byte-path.js';

export interface DirectoryPart {
  /** Names have one character per byte. */
  entries: Dirent[];
  /** No more parts will come. */
  isComplete: boolean;
}

const partSize = 4096;
// The size that a file system gives a directory grows with its entries; beyond this one it is read part by part.
const largeDirectory = 64 << 10;

/** The entries of a directory, all at once or, if there are many, a few thousand at a time. */
export function* directoryParts(path: BytePath, size = statSync(systemPath(path)).size): Generator<DirectoryPart> {
  const where = systemPath(path);
  if (size <= largeDirectory) {
    yield { entries: readdirSync(where, { withFileTypes: true, encoding: 'latin1' }), isComplete: true };
    return;
  }
  const handle = opendirSync(where, { encoding: 'latin1', bufferSize: 1024 });
  try {
    for (let isComplete = false; !isComplete; ) {
      const entries: Dirent[] = [];
      for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
        if (entries.push(entry) === partSize) break;
      }
      isComplete = entries.length < partSize;
      yield { entries, isComplete };
    }
  } finally {
    handle.closeSync();
  }
}

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
