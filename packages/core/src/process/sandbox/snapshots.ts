import { type BigIntStats, lstatSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** What a protected name held before a command. */
export type Snapshot =
  | { type: 'file'; bytes: Buffer; mode: number }
  | { type: 'link'; target: string }
  /** A directory, or a file too large to keep. */
  | { type: 'other' };

const maxSnapshotBytes = 1_000_000;

/** The content of protected files, read again only when a file has changed. */
export class Snapshots {
  readonly #known = new Map<string, { version: string; snapshot: Snapshot }>();

  take(paths: readonly string[]): ReadonlyMap<string, Snapshot> {
    const taken = new Map<string, Snapshot>();
    for (const path of paths) {
      const info = lstatOf(path);
      if (info === undefined) continue;
      const version = versionOf(info);
      const known = this.#known.get(path);
      const snapshot = known?.version === version ? known.snapshot : read(path, info);
      this.#known.set(path, { version, snapshot });
      taken.set(path, snapshot);
    }
    return taken;
  }

  /** What distinguishes the files now at all names that were taken; `undefined` if one is missing. */
  versions(): string | undefined {
    const infos = [...this.#known.keys()].map(lstatOf);
    return infos.some((info) => info === undefined) ? undefined : infos.map((info) => info && versionOf(info)).join();
  }

  forgetMissing(): void {
    for (const path of this.#known.keys()) if (lstatOf(path) === undefined) this.#known.delete(path);
  }
}

/** No program can set the time of the last change of an inode. */
function versionOf({ dev, ino, ctimeNs, size }: BigIntStats): string {
  return `${dev}:${ino}:${ctimeNs}:${size}`;
}

function read(path: string, info: BigIntStats): Snapshot {
  try {
    if (info.isSymbolicLink()) return { type: 'link', target: readlinkSync(path) };
    if (!info.isFile() || info.size > maxSnapshotBytes) return { type: 'other' };
    return { type: 'file', bytes: readFileSync(path), mode: Number(info.mode) & 0o777 };
  } catch {
    return { type: 'other' };
  }
}

/** What a name holds at this moment. */
export function readSnapshot(path: string): Snapshot | undefined {
  const info = lstatOf(path);
  return info && read(path, info);
}

/** Whether two names hold the same file content or link. */
export function isSame(one: Snapshot | undefined, other: Snapshot): boolean {
  if (one?.type === 'link') return other.type === 'link' && one.target === other.target;
  return one?.type === 'file' && other.type === 'file' && one.bytes.equals(other.bytes) && one.mode === other.mode;
}

/** Puts a file or link back. Nothing may be at `path`. */
export function putBack(path: string, before: Exclude<Snapshot, { type: 'other' }>): void {
  if (before.type === 'link') symlinkSync(before.target, path);
  else writeFileSync(path, before.bytes, { flag: 'wx', mode: before.mode });
}

export function lstatOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/*
 * A program that replaces a protected file may remove it for a moment: git does, and some editors. A sandbox that is planned
 * then does not cover the name, and the command could write to the file that appears.
 */

const maxSteadyMs = 1_000;
const stepMs = 20;
const maxPlans = 10;
const pauseMs = 10;

/** Waits until git is done and the names that earlier commands found are there. A name that stays away was removed. */
export async function untilSteady(roots: readonly string[], snapshots: Snapshots): Promise<void> {
  const deadline = performance.now() + maxSteadyMs;
  while ((snapshots.versions() === undefined || isGitAtWork(roots)) && performance.now() < deadline) await wait(stepMs);
  snapshots.forgetMissing();
}

/** Plans again if one of these names was replaced meanwhile. */
export function planSteadily<P>(makePlan: () => P, snapshots: Snapshots, attempts = maxPlans): P {
  const before = snapshots.versions();
  const plan = makePlan();
  if (attempts === 1 || (before !== undefined && before === snapshots.versions())) return plan;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  return planSteadily(makePlan, snapshots, attempts - 1);
}

const gitLocks = ['index.lock', 'HEAD.lock', 'config.lock'];
/** A git that was killed leaves its lock behind. */
const maxLockAgeMs = 5_000;

export function isGitAtWork(roots: readonly string[]): boolean {
  return roots.some((root) =>
    gitLocks.some((name) => {
      const info = lstatOf(join(root, '.git', name));
      return info !== undefined && Date.now() - Number(info.ctimeMs) < maxLockAgeMs;
    }),
  );
}
