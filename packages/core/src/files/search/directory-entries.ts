import { type Dirent, opendirSync, readdirSync, statSync } from 'node:fs';
import { type BytePath, systemPath } from '../byte-path.js';

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
