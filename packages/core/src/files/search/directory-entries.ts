import { type Dirent, opendirSync } from 'node:fs';
import { type BytePath, systemPath } from '../byte-path.js';

/** The entries of a directory, read a thousand at a time. Names have one character per byte. */
export function* directoryEntries(path: BytePath): Generator<Dirent> {
  const handle = opendirSync(systemPath(path), { encoding: 'latin1', bufferSize: 1024 });
  try {
    for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) yield entry;
  } finally {
    handle.closeSync();
  }
}
