import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
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
