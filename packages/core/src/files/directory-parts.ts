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

/** Synchronous work in slices of a few milliseconds: several times faster than the thread pool, and the event loop runs. */
export class Slice {
  readonly #signal: AbortSignal;
  #start = performance.now();

  constructor(signal: AbortSignal) {
    signal.throwIfAborted();
    this.#signal = signal;
  }

  get isOver(): boolean {
    return performance.now() - this.#start > sliceMs;
  }

  async pause(): Promise<void> {
    await setImmediate();
    this.#signal.throwIfAborted();
    this.#start = performance.now();
  }
}
