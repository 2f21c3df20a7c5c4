import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LatheHome } from '../../files/lathe-home.js';
import { isWithin } from '../../files/workspace.js';

/** What is left of processes that this one cannot see, such as those of another container, is removed after this time. */
const maxAgeMs = 7 * 24 * 60 * 60 * 1000;

/**
 * What the commands of one session share on disk: their `/tmp`, and caches that they may write to. Made for the first
 * command, removed when Lathe closes. What a killed Lathe left behind is removed by the next one.
 */
export class SessionDirectory {
  /** Becomes `/tmp`. */
  readonly tmp: string;
  readonly #path: string;
  readonly #home: LatheHome;
  #opened: Promise<void> | undefined;

  constructor(home: LatheHome) {
    this.#home = home;
    this.#path = home.file('tmp', `${pidNamespace()}-${process.pid}-${randomBytes(6).toString('hex')}`);
    this.tmp = join(this.#path, 'tmp');
  }

  open(): Promise<void> {
    this.#opened ??= this.#create();
    return this.#opened;
  }

  async #create(): Promise<void> {
    const directory = await this.#home.directory('tmp');
    mkdirSync(this.tmp, { recursive: true, mode: 0o700 });
    await removeLeftovers(directory);
  }

  file(name: string): string {
    return join(this.#path, name);
  }

  /** The session's own version of a directory, which need not exist. */
  ownVersionOf(directory: string): string {
    // One name, because the version of a directory inside another must not lie inside the version of the other.
    return join(this.#path, 'own', directory.replaceAll('/', '%'));
  }

  makeOwnVersionOf(directory: string): string {
    const own = this.ownVersionOf(directory);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    return own;
  }

  contains(path: string): boolean {
    return isWithin(this.#path, path);
  }

  async close(): Promise<void> {
    if (this.#opened === undefined) return;
    await this.#opened.catch(() => undefined);
    this.#opened = undefined;
    await removeTree(this.#path);
  }
}

/** Whether commands see the session's own directory at this path. */
export function isTemporary(path: string): boolean {
  return temporaryDirectories.some((directory) => isWithin(directory, path));
}

export const temporaryDirectories = ['/tmp', '/var/tmp'];

/** A pid means something only in its namespace. */
function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

async function removeLeftovers(directory: string): Promise<void> {
  const here = pidNamespace();
  const isLeft = (name: string) => {
    const [namespace, pid] = name.split('-');
    if (namespace === here) return !isRunning(Number(pid));
    return Date.now() - (statSync(join(directory, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) > maxAgeMs;
  };
  await Promise.all(
    readdirSync(directory)
      .filter(isLeft)
      .map((name) => removeTree(join(directory, name))),
  );
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Commands may have left directories that are not writable, such as those of Go's module cache. */
async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await openUp(path);
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function openUp(directory: string): Promise<void> {
  await chmod(directory, 0o700).catch(() => undefined);
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await openUp(join(directory, entry.name));
}
