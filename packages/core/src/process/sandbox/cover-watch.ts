import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Catches what the events of a busy directory leave out. */
const checkMs = 1_000;

/**
 * Watches the names that mounts cover in the sandbox. When a process outside of it renames or removes such a name, or
 * puts another file in its place, the kernel removes the cover there too, and the command can change the name.
 */
export class CoverWatch {
  readonly #covers: readonly { path: string; identity: string | undefined }[];
  readonly #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Call it before the sandbox starts. */
  constructor(paths: readonly string[]) {
    this.#covers = paths.map((path) => ({ path, identity: identityOf(path) }));
  }

  /** Calls `onLost` once, with the first name that is no longer covered. */
  start(onLost: (path: string) => void): void {
    const check = () => {
      const [path] = this.lost();
      if (path === undefined) return;
      this.close();
      onLost(path);
    };
    const names = new Set(this.#covers.map(({ path }) => basename(path)));
    for (const directory of new Set(this.#covers.map(({ path }) => dirname(path))))
      this.#watch(directory, (name) => {
        if (name === null || names.has(name)) check();
      });
    this.#timer = setInterval(check, checkMs).unref();
    // What happened since the identities were read has no event.
    check();
  }

  /** The names that are not what they were when the sandbox was planned. */
  lost(): string[] {
    return this.#covers.filter(({ path, identity }) => identityOf(path) !== identity).map(({ path }) => path);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const watcher of this.#watchers.splice(0)) watcher.close();
  }

  /** Where the system allows no more watches, the timer has to do. */
  #watch(directory: string, onEvent: (name: string | null) => void): void {
    try {
      const watcher = watch(directory, { persistent: false }, (_, name) => onEvent(name));
      this.#watchers.push(watcher.on('error', () => undefined));
    } catch {
      return;
    }
  }
}

function identityOf(path: string): string | undefined {
  try {
    const info = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    // File systems give the number of a removed inode to the next one; the time of birth tells them apart.
    return info && `${info.dev}:${info.ino}:${info.birthtimeNs}`;
  } catch {
    return undefined;
  }
}
