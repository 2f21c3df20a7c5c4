import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
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
  static open(): LogFile | undefined {
    // An open file cannot lose its name there.
    if (process.platform === 'win32') return undefined;
    try {
      const directory = mkdtempSync(join(tmpdir(), 'lathe-log-'));
      try {
        return new LogFile(openSync(join(directory, 'log'), 'ax+', 0o600));
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    } catch {
      return undefined;
    }
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

  close(): void {
    closeSync(this.fd);
  }
}
