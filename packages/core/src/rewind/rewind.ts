import { relative } from 'node:path';
import type { Journal } from '../files/undo/journal.js';
import { isWithin } from '../files/workspace.js';
import type { FileLocks } from '../files/write/file-lock.js';
import type { PrivateGitPlace } from './open-private-git.js';
import { planRestore, type RestoreGoal, type RestorePlan } from './plan-restore.js';
import { type RestoreOutcome, type RestoreParts, restoreFiles } from './restore-files.js';
import type { SnapshotLimits } from './scan-workspace.js';
import { SnapshotStore } from './snapshot-store.js';
import { TreeCopy } from './tree-copy.js';

/** Takes snapshots of a workspace and goes back to them. Opens nothing before it is used. */
export class Rewind {
  readonly snapshots: SnapshotStore;
  readonly #parts: RestoreParts;
  readonly #place: PrivateGitPlace;

  constructor(
    place: PrivateGitPlace,
    { locks, journal }: { locks: FileLocks; journal: Journal },
    limits?: Partial<SnapshotLimits>,
  ) {
    this.#place = place;
    this.snapshots = new SnapshotStore(place, locks, limits);
    this.#parts = { root: place.root, store: this.snapshots, locks, journal };
  }

  /** A copy of the repository at `root` in another directory. Writes nothing yet. */
  copyOf(root: string, copy: { directory: string; id: string }): TreeCopy {
    const { locks, journal } = this.#parts;
    return new TreeCopy({ place: { ...this.#place, root }, locks, journal, ...copy });
  }

  /**
   * What going back would change, and what it would leave. Changes nothing. `isOwn` tells the turns of this session from
   * those of another Lathe that worked at the same time.
   */
  async plan(goal: RestoreGoal, isOwn: (turn: string) => boolean, signal: AbortSignal): Promise<RestorePlan> {
    const others = await this.#editedByOthers(goal.target.time, isOwn);
    return planRestore(this.snapshots, this.#parts.root, { ...goal, others }, signal);
  }

  /** Files whose last edit in the journal since then belongs to somebody else. */
  async #editedByOthers(since: number, isOwn: (turn: string) => boolean): Promise<ReadonlySet<string>> {
    const { journal, root } = this.#parts;
    const last = new Map<string, boolean>();
    for (const { path, turn, time } of await journal.list(Number.POSITIVE_INFINITY)) {
      if (Date.parse(time) < since) break;
      if (isWithin(root, path) && !last.has(path)) last.set(path, isOwn(turn));
    }
    return new Set([...last].flatMap(([path, own]) => (own ? [] : [relative(root, path)])));
  }

  /**
   * Carries out a plan. A person must have seen it: it may change files that other programs execute or act on. Without
   * `isApproved` those are left.
   */
  async restore(
    { files, left }: RestorePlan,
    { isApproved }: { isApproved: boolean },
    signal: AbortSignal,
  ): Promise<RestoreOutcome[]> {
    const guarded = isApproved ? [] : files.flatMap(({ path, guarded: reason }) => (reason ? [{ path, reason }] : []));
    const open = files.filter((file) => isApproved || file.guarded === undefined);
    const outcomes = await restoreFiles(this.#parts, open, signal);
    return [...outcomes, ...[...guarded, ...left].map((file) => ({ ...file, status: 'left' as const }))];
  }
}
