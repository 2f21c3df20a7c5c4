import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  type FSWatcher,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  watch,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ToolError } from '../../contract/errors.js';
import { isWithin } from '../../files/workspace.js';

/** An argument of bubblewrap and its values; the last one is the path in the sandbox. */
export type Mount = string[];

export function pathOf(mount: Mount): string {
  return mount.at(-1) ?? '';
}

export function readOnly(path: string): Mount {
  return ['--ro-bind', path, path];
}

export function writable(path: string): Mount {
  return ['--bind', path, path];
}

/** Node has no name for the flag that opens a path without the right to read it. It is the same on all processors. */
const pathOnly = 0o10000000;

interface Plan {
  mounts: Mount[];
  guarded: { roots: readonly string[] };
}

/**
 * A command that still runs can replace a directory of the workspace by a symlink after it was looked at, and bubblewrap
 * would mount where that leads. So what is mounted from the workspace is passed as an open descriptor: bubblewrap checks,
 * before the command starts, that this and nothing else is at the path. The descriptors are to be inherited by bubblewrap
 * from the number `first` on.
 */
export function holdMounts<P extends Plan>(
  makePlan: () => P,
  first: number,
  attempts = 5,
): P & { descriptors: number[] } {
  const plan = makePlan();
  const descriptors: number[] = [];
  const hold = (mount: Mount): Mount => {
    const [kind, source = '', path = ''] = mount;
    const isOwn = source === path && plan.guarded.roots.some((root) => isWithin(root, path));
    if (!isOwn || (kind !== '--bind' && kind !== '--ro-bind')) return mount;
    descriptors.push(openItself(path));
    return [`${kind}-fd`, `${first + descriptors.length - 1}`, path];
  };
  try {
    return { ...plan, mounts: plan.mounts.map(hold), descriptors };
  } catch (error) {
    for (const descriptor of descriptors) closeSync(descriptor);
    // Somebody works in the same tree.
    if (attempts > 1) return holdMounts(makePlan, first, attempts - 1);
    throw error;
  }
}

/** Throws if a symlink is on the way. */
function openItself(path: string): number {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, pathOnly | constants.O_NOFOLLOW);
    if (!fstatSync(descriptor).isSymbolicLink() && readlinkSync(`/proc/self/fd/${descriptor}`) === path)
      return descriptor;
    throw new Error('a symlink is in its place');
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    const reason = error instanceof Error ? error.message : String(error);
    throw new ToolError('sandbox_unavailable', `${path} changed while the sandbox was set up (${reason}).`);
  }
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
