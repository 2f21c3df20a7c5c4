import { type BigIntStats, lstatSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';

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
