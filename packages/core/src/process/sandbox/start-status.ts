import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** What bubblewrap reports about its command: an exit code, and only if the command was started. */
export class StartStatus {
  /** For bubblewrap. */
  readonly writer: number;
  #reader: number | undefined;

  constructor(directory: string) {
    const path = join(directory, `status-${randomBytes(6).toString('hex')}`);
    this.writer = openSync(path, 'wx', 0o600);
    this.#reader = openSync(path, 'r');
    rmSync(path);
  }

  /** Call it once, after bubblewrap has exited. */
  hasStarted(): boolean {
    return this.#reader !== undefined && readFileSync(this.#reader, 'utf8').includes('"exit-code"');
  }

  close(): void {
    if (this.#reader !== undefined) closeSync(this.#reader);
    this.#reader = undefined;
  }
}
