import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gitDirectoryOf } from '../files/access/protected-paths.js';
import { type Entry, type PlannedFile, plannedFile } from './plan-restore.js';
import { GitFailure, type PrivateGit } from './private-git.js';
import type { FileDifference, FileEntry, SnapshotStore, WorkspaceSnapshot } from './snapshot-store.js';

/** What was done in a copy since it was made. */
export interface CopyChanges {
  tree: string;
  files: readonly FileDifference[];
  /** Files that are too large or cannot be read. */
  leftOut: readonly string[];
}

/** How the changes of a copy fit the original as it is now. */
export interface MergePlan {
  files: readonly PlannedFile[];
  /** Files that were changed on both sides in the same place. They are left as they are. */
  conflicts: readonly string[];
}

interface Merge {
  store: SnapshotStore;
  git: PrivateGit;
  /** What the copy started from. */
  base: Pick<WorkspaceSnapshot, 'tree'>;
  /** The original as it is now. */
  now: WorkspaceSnapshot;
  changes: CopyChanges;
  /** The directory of the copy. */
  copy: string;
}

/** Larger files are not merged: one that changed on both sides is a conflict. */
const maxMergedBytes = 8 << 20;

/** For each file that a copy changed: what to do with the original, which may have changed since the copy was made. */
export async function mergeChanges(merge: Merge, signal: AbortSignal): Promise<MergePlan> {
  const { store, base, now, changes } = merge;
  const ours = new Map((await store.differences(base, now, signal)).map((each) => [each.path, each]));
  const files: PlannedFile[] = [];
  const conflicts: string[] = [];
  for (const theirs of changes.files) {
    const mine = ours.get(theirs.path);
    const current = mine ? mine.to : theirs.from;
    if (isSame(current, theirs.to)) continue;
    const target = mine ? await merged(merge, theirs, mine, signal) : theirs.to;
    // A path that is left out of snapshots may be there although the tree does not have it; the write then finds it.
    if (target === 'conflict') conflicts.push(theirs.path);
    else files.push(plannedCopy(merge, theirs.path, current, target));
  }
  return { files, conflicts };
}

function isSame(a: FileEntry | undefined, b: FileEntry | undefined): boolean {
  return a?.id === b?.id && a?.mode === b?.mode;
}

/** Several new files may be a git directory together, as they are in the copy. */
function plannedCopy({ git, copy }: Merge, path: string, now: Entry, target: Entry): PlannedFile {
  const { root } = git.options;
  const guarded = target && gitDirectoryOf(join(copy, path))?.replace(copy, root);
  return { ...(guarded !== undefined && { guarded }), ...plannedFile(path, { now, target, root }) };
}

/** Merges two changes of one text line by line, as `git merge` does. */
async function merged(
  { store, git }: Merge,
  theirs: FileDifference,
  mine: FileDifference,
  signal: AbortSignal,
): Promise<FileEntry | 'conflict'> {
  const [old, own, other] = [theirs.from, mine.to, theirs.to];
  if (!old || !own || !other || [old, own, other].some(({ mode }) => mode === '120000')) return 'conflict';
  const ids = [own.id, old.id, other.id];
  const sizes = await store.sizesOf(ids, signal);
  if (ids.some((id) => (sizes.get(id) ?? Infinity) > maxMergedBytes)) return 'conflict';
  const contents = new Map<string, Buffer>();
  for await (const [id, content] of store.contentsOf(ids, signal)) contents.set(id, content);
  const directory = await mkdtemp(join(git.options.directory, 'merge-'));
  try {
    const paths = ['own', 'old', 'other'].map((name) => join(directory, name));
    for (const [at, path] of paths.entries()) await writeFile(path, contents.get(ids[at] ?? '') ?? '', { mode: 0o600 });
    const content = await git.run(['merge-file', '-p', '-q', ...paths], { signal });
    const id = await git.run(['hash-object', '-w', '--stdin', '--no-filters'], { input: content, signal });
    return { id: id.toString('latin1').trim(), mode: own.mode === old.mode ? other.mode : own.mode };
  } catch (error) {
    // Its exit code is the number of conflicts; binary files cannot be merged.
    if (error instanceof GitFailure) return 'conflict';
    throw error;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
