import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LatheHome } from '../../files/lathe-home.js';
import { seccompFilter } from './seccomp.js';

/** Files that bubblewrap needs. */
export interface SandboxFiles {
  /** An empty directory. */
  empty: string;
  /** For files that live as long as a command. */
  run: string;
  /** The system call filters that allow sockets in the file system, and that do not. */
  filters?: Record<'withSockets' | 'withoutSockets', string>;
}

export async function makeSandboxFiles(home: LatheHome): Promise<SandboxFiles> {
  const empty = await home.directory('empty');
  const run = await home.directory('run');
  const withSockets = await makeFilter(home, { unixSockets: true });
  const withoutSockets = await makeFilter(home, { unixSockets: false });
  return { empty, run, ...(withSockets && withoutSockets && { filters: { withSockets, withoutSockets } }) };
}

async function makeFilter(home: LatheHome, options: { unixSockets: boolean }): Promise<string | undefined> {
  const filter = seccompFilter(process.arch, options);
  if (filter === undefined) return undefined;
  const path = await home.createFile(['run', `seccomp-${randomBytes(6).toString('hex')}`], filter);
  // Unlinked, so only this descriptor reaches it: nothing is left behind, and no other process can change it.
  const descriptor = openSync(path, 'r');
  rmSync(path);
  return `/proc/self/fd/${descriptor}`;
}

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
