import { createHash, randomBytes } from 'node:crypto';
import { realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolError } from '@lathe/core';
import { enclosingRepository, processIdentity, processState, type Rewind } from '@lathe/core/host';
import type { LatheHome, Workspace } from '@lathe/core/tools';
import { nameOf, Worktree, type WorktreeRecord, worktreeRecords } from './worktree.js';

export interface WorktreePlace {
  home: LatheHome;
  rewind: Pick<Rewind, 'copyOf'>;
  /** Its root is the directory that the agent would work in without a worktree. */
  workspace: Pick<Workspace, 'root'>;
}

export interface OpenWorktree {
  kind: WorktreeRecord['kind'];
  /** Of a session, which can come back to it. */
  name?: string;
  /** The files as they are now, or as they are in the last commit. */
  from?: 'now' | 'commit';
}

/** What a process on another machine left is removed after this time. */
const maxAgeMs = 7 * 86_400_000;
const folder = 'worktrees';

/** Makes a worktree, or continues with the one of this name. Throws outside a git repository. */
export async function openWorktree(
  { home, rewind, workspace }: WorktreePlace,
  { kind, name = randomBytes(4).toString('hex'), from = 'now' }: OpenWorktree,
  signal: AbortSignal,
): Promise<Worktree> {
  const root = await realpath(workspace.root);
  const top = (await enclosingRepository(root))?.workTree;
  if (top === undefined)
    throw new ToolError('execution_failed', `${root} is in no git repository, which a worktree needs. Run: git init`);
  // In lower case, because on a Mac names that differ only in case are one directory.
  const id = `${createHash('sha256').update(top).digest('hex').slice(0, 8)}-${name.toLowerCase()}`;
  const directory = join(await realpath(await home.directory(folder)), id);
  const owner = await processIdentity(process.pid);
  const record = await claim(home, { id, kind, owner, time: Date.now(), top, root });
  const worktree = new Worktree({ record, rewind, directory, home });
  if (record.base !== undefined) return worktree;
  try {
    // Half of one is left by a process that was killed.
    await rm(directory, { recursive: true, force: true });
    const made = { ...record, ...(await worktree.create(from, signal)) };
    await worktreeRecords(home).update((all) => [...all.filter((each) => each.id !== id), made]);
    return new Worktree({ record: made, rewind, directory, home });
  } catch (error) {
    await worktree.remove();
    throw error;
  }
}

/** Makes this process the owner of a worktree. Returns a new record, or that of an earlier session. */
async function claim(home: LatheHome, fresh: WorktreeRecord): Promise<WorktreeRecord> {
  const records = worktreeRecords(home);
  const before = (await records.entries()).find(({ id }) => id === fresh.id);
  const isUsed = before && before.owner !== '' && (await processState(before.owner)) === 'running';
  const claimed = before?.base !== undefined && before.top === fresh.top ? { ...before, ...fresh } : fresh;
  await records.update((all) => {
    if (isUsed || all.find(({ id }) => id === fresh.id)?.owner !== before?.owner)
      throw new ToolError('execution_failed', `The worktree ${nameOf(fresh)} is in use by another process.`);
    return [...all.filter(({ id }) => id !== fresh.id), claimed];
  });
  return claimed;
}

/** The names of the sessions' worktrees of this repository. */
export async function keptWorktrees({ home, workspace }: Omit<WorktreePlace, 'rewind'>): Promise<string[]> {
  const top = (await enclosingRepository(workspace.root))?.workTree;
  const records = await worktreeRecords(home).entries();
  return records.filter((record) => record.kind === 'session' && record.top === top).map(nameOf);
}

/** Removes what killed processes left: worktrees of tasks, and those of sessions that were never finished. */
export async function removeLeftovers({ home, rewind }: Omit<WorktreePlace, 'workspace'>): Promise<void> {
  for (const record of await worktreeRecords(home).entries())
    if (await isLeft(record))
      await new Worktree({ record, rewind, directory: home.file(folder, record.id), home }).remove();
}

async function isLeft({ kind, owner, base, time }: WorktreeRecord): Promise<boolean> {
  if (kind === 'session' && base !== undefined) return false;
  const state = await processState(owner);
  return state === 'unknown' ? Date.now() - time > maxAgeMs : state === 'gone';
}
