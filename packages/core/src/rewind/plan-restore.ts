import { join } from 'node:path';
import { ToolError } from '../contract/errors.js';
import { gitDirectoryOf, protectionOf } from '../files/access/protected-paths.js';
import type { FileDifference, FileEntry, LineCount, SnapshotStore, WorkspaceSnapshot } from './snapshot-store.js';

/** What going back would do to one file. */
export interface PlannedFile {
  /** Relative to the workspace. */
  path: string;
  action: 'change' | 'create' | 'remove';
  /** Missing for a file that is to be created. */
  now?: FileEntry;
  /** Missing for a file that is to be removed. */
  target?: FileEntry;
  /** Missing for a binary file. */
  lines?: LineCount;
  /** Why a person has to agree to this change in any mode. */
  guarded?: string;
}

/** A file that stays as it is. */
export interface LeftFile {
  path: string;
  reason: string;
}

/** What going back to a snapshot would do. */
export interface RestorePlan {
  files: readonly PlannedFile[];
  left: readonly LeftFile[];
}

export interface RestoreGoal {
  target: WorkspaceSnapshot;
  /** Taken just before, and the last end of a gap. */
  now: WorkspaceSnapshot;
  /** Times in which nothing of ours ran. What changed there was changed by others. */
  gaps: readonly (readonly [WorkspaceSnapshot, WorkspaceSnapshot])[];
  /** Files that others are known to have changed, relative to the workspace. */
  others?: ReadonlySet<string>;
}

/** Compares the workspace with an earlier snapshot. Files that others changed since are left. */
export async function planRestore(
  store: SnapshotStore,
  root: string,
  { target, now, gaps, others: known = new Set() }: RestoreGoal,
  signal: AbortSignal,
): Promise<RestorePlan> {
  await assertKept(store, [target, ...gaps.flat()], signal);
  const differences = await store.differences(now, target, signal);
  const others = new Set(known);
  for (const [from, to] of gaps) for (const { path } of await store.differences(from, to, signal)) others.add(path);
  const ignored = await ignoredFiles(store, target, differences, signal);
  const sizes = await store.sizesOf(
    differences.flatMap(({ to }) => to?.id ?? []),
    signal,
  );
  const notKept = [...new Set([...target.leftOut, ...now.leftOut])];
  const reasonToLeave = ({ path, to }: FileDifference): string | undefined => {
    if (others.has(path)) return 'changed by somebody else since';
    if (ignored.has(path)) return 'ignored at that time, so its state then is not known';
    if (to && !sizes.has(to.id)) return 'its earlier content is no longer kept';
    return notKept.some((name) => name === path || (name.endsWith('/') && path.startsWith(name)))
      ? notCovered
      : undefined;
  };
  const reasons = new Map(differences.map((each) => [each, reasonToLeave(each)]));
  const counts = await store.lineCounts(now, target, signal).catch(() => new Map<string, LineCount>());
  return {
    files: differences
      .filter((each) => !reasons.get(each))
      .map(({ path, from, to }) => plannedFile(path, { now: from, target: to, root, lines: counts.get(path) })),
    left: [
      ...differences.flatMap((each) => {
        const reason = reasons.get(each);
        return reason === undefined || notKept.includes(each.path) ? [] : [{ path: each.path, reason }];
      }),
      ...notKept.map((path) => ({ path, reason: notCovered })),
    ],
  };
}

/** Old snapshots are removed, and those of another workspace are elsewhere. */
async function assertKept(store: SnapshotStore, snapshots: readonly WorkspaceSnapshot[], signal: AbortSignal) {
  const trees = snapshots.map(({ tree }) => tree);
  const sizes = await store.sizesOf(trees, signal);
  if (!trees.every((tree) => sizes.has(tree)))
    throw new ToolError(
      'file_not_found',
      'The files of that time are no longer kept. The conversation can still go back.',
    );
}

const notCovered = 'not part of snapshots: too large, not readable, or with a repository of its own';

export type Entry = FileEntry | undefined;

/** What it takes to give a file below `root` another content. */
export function plannedFile(
  path: string,
  { root, now, target, lines }: { root: string; now?: Entry; target?: Entry; lines?: LineCount | undefined },
): PlannedFile {
  const full = join(root, path);
  const guarded = protectionOf(full) ?? gitDirectoryOf(full);
  return {
    path,
    action: !now ? 'create' : target ? 'change' : 'remove',
    ...(now && { now }),
    ...(target && { target }),
    ...(lines && { lines }),
    ...(guarded !== undefined && { guarded }),
  };
}

/** Files that look new only because no `.gitignore` excluded them for a while. */
async function ignoredFiles(
  store: SnapshotStore,
  target: WorkspaceSnapshot,
  differences: readonly FileDifference[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const added = differences.filter(({ to }) => !to).map(({ path }) => path);
  return added.length > 0 ? store.ignoredIn(target, added, signal) : new Set();
}
