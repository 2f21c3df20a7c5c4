import { closeSync, constants, mkdtempSync, openSync, readSync, rmdirSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const chunkBytes = 64 << 10;

/** A file without a name, which one process writes to and we read as it grows. */
export class LogFile {
  readonly fd: number;
  #position = 0;

  private constructor(fd: number) {
    this.fd = fd;
  }

  /** `undefined` where no such file can be made. */
  static open(platform = process.platform): LogFile | undefined {
    // An open file cannot lose its name there.
    if (platform === 'win32') return undefined;
    const fd = (platform === 'linux' ? unnamedFile() : undefined) ?? fileWithoutItsName();
    return fd === undefined ? undefined : new LogFile(fd);
  }

  /** Hands over what was written since the last time. */
  readNew(onChunk: (chunk: Buffer) => void): void {
    for (let count = chunkBytes; count === chunkBytes; ) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      count = readSync(this.fd, chunk, 0, chunkBytes, this.#position);
      this.#position += count;
      if (count > 0) onChunk(chunk.subarray(0, count));
    }
  }

  /** Throws when there is no more room, because then what the process wrote last may be lost. */
  refuseIfFull(): void {
    if (writeSync(this.fd, Buffer.alloc(chunkBytes)) < chunkBytes) throw new Error('The log has no more room.');
  }

  close(): void {
    closeSync(this.fd);
  }
}

// Linux calls it O_TMPFILE; Node has no name for it.
const unnamed = constants.O_RDWR | constants.O_DIRECTORY | 0o20000000;

function unnamedFile(): number | undefined {
  // In memory, because ripgrep writes word by word; where there is none, or for a process that may not write there, on disk.
  for (const directory of ['/dev/shm', tmpdir()]) {
    try {
      return openSync(directory, unnamed, 0o600);
    } catch {
      // Not every file system can.
    }
  }
  return undefined;
}

function fileWithoutItsName(): number | undefined {
  try {
    const directory = mkdtempSync(join(tmpdir(), 'lathe-log-'));
    try {
      const path = join(directory, 'log');
      const fd = openSync(path, 'ax+', 0o600);
      unlinkSync(path);
      return fd;
    } finally {
      rmdirSync(directory);
    }
  } catch {
    return undefined;
  }
}
