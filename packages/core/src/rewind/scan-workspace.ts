import { accessSync, constants, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { Yielder } from '../async/yielder.js';
import { ToolError } from '../contract/errors.js';
import { osPath, shownPath } from '../files/file-name.js';
import { isWithin } from '../files/workspace.js';
import { changeRecords, splitZero } from './git-output.js';
import type { PrivateGit } from './private-git.js';

/** A larger file is left out of snapshots. */
const maxFileBytes = 32 << 20;
/** Of all files that changed since the last snapshot; the largest are left out. */
const maxTotalBytes = 1 << 30;
/** With more new or changed files, there is no snapshot. */
const maxChangedFiles = 50_000;
/** With more files that are left out, there is no snapshot. */
const maxLeftOut = 1000;

export const defaultLimits = {
  fileBytes: maxFileBytes,
  totalBytes: maxTotalBytes,
  changedFiles: maxChangedFiles,
  leftOut: maxLeftOut,
};

export type SnapshotLimits = typeof defaultLimits;

/** What to do with the index so that it describes the workspace again. Names are relative to the workspace. */
interface Scan {
  /** No longer part of a snapshot. */
  removed: Buffer[];
  /** New or changed. */
  added: Buffer[];
  /** Files that are too large or cannot be read, and directories with repositories of their own. */
  leftOut: string[];
}

interface Candidate {
  name: Buffer;
  /** Infinite when the content cannot be part of a snapshot. */
  size: number;
}

/** Finds the files that differ from the index, apart from those below `own`. */
export async function scanWorkspace(
  git: PrivateGit,
  { own, limits, signal }: { own: string; limits: SnapshotLimits; signal: AbortSignal },
): Promise<Scan> {
  const [tracked, untracked] = await Promise.all([
    git.run(['diff-files', '-z', '--relative'], { signal }),
    git.run(['ls-files', '-z', '--others', '--exclude-standard'], { signal }),
  ]);
  const changed = changeRecords(tracked);
  const present = changed.filter(({ head }) => !head.endsWith('D')).map(({ path }) => path);
  const names = [...present, ...splitZero(untracked)];
  if (names.length > limits.changedFiles)
    throw tooLarge(`${names.length} files are new or changed, and a snapshot takes ${limits.changedFiles}`);
  const candidates = await look(names, { root: git.options.root, own, signal });
  const left = new Set(largest(candidates, limits).map(({ name }) => name));
  if (left.size > limits.leftOut) throw tooLarge(`${left.size} files are too large for it`);
  return {
    // A file that is left out must not look unchanged.
    removed: changed.filter(({ head, path }) => head.endsWith('D') || left.has(path)).map(({ path }) => path),
    added: candidates.filter(({ name }) => !left.has(name)).map(({ name }) => name),
    leftOut: [...left].map(shownPath).sort(),
  };
}

function tooLarge(reason: string): ToolError {
  return new ToolError('file_too_large', `${reason}. Add what need not come back to .gitignore`);
}

async function look(
  names: readonly Buffer[],
  { root, own, signal }: { root: string; own: string; signal: AbortSignal },
): Promise<Candidate[]> {
  const yielder = new Yielder(signal);
  const candidates: Candidate[] = [];
  for (const name of names) {
    if (yielder.shouldYield) await yielder.yield();
    const path = join(root, shownPath(name));
    const size = isWithin(own, path) ? undefined : sizeAt(osPath(path));
    if (size !== undefined) candidates.push({ name, size });
  }
  return candidates;
}

/** `undefined` when the file is gone by now. */
function sizeAt(path: string | Buffer): number | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) return undefined;
    if (stat.isSymbolicLink()) return stat.size;
    accessSync(path, constants.R_OK);
    return stat.isFile() ? stat.size : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The files to leave out, so that each of the others is small enough, and all of them together. */
function largest(candidates: readonly Candidate[], { fileBytes, totalBytes }: SnapshotLimits): Candidate[] {
  const bySize = candidates.toSorted((a, b) => b.size - a.size);
  let total = bySize.reduce((sum, { size }) => sum + (Number.isFinite(size) ? size : 0), 0);
  const count = bySize.findIndex(({ size }) => {
    if (size <= fileBytes && total <= totalBytes) return true;
    if (Number.isFinite(size)) total -= size;
    return false;
  });
  return count < 0 ? bySize : bySize.slice(0, count);
}
