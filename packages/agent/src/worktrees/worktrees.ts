import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolError } from '@lathe/core';
import { enclosingRepository, processIdentity, processState, type Rewind } from '@lathe/core/host';
import type { LatheHome } from '@lathe/core/tools';
import { Worktree, type WorktreeRecord, writeRecord } from './worktree.js';

export interface WorktreePlace {
  home: LatheHome;
  rewind: Pick<Rewind, 'copyOf'>;
  /** The directory that the agent would work in without a worktree. */
  root: string;
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

/** Makes a worktree, or goes on with the one of this name. Throws outside a git repository. */
export async function openWorktree(
  place: WorktreePlace,
  { kind, name = randomBytes(4).toString('hex'), from = 'now' }: OpenWorktree,
  signal: AbortSignal,
): Promise<Worktree> {
  const { home } = place;
  const root = await realpath(place.root);
  const top = (await enclosingRepository(root))?.workTree;
  if (top === undefined)
    throw new ToolError('execution_failed', `${root} is in no git repository, which a worktree needs. Run: git init`);
  const id = `${keyOf(top)}-${name}`;
  const directory = join(await realpath(await home.directory(folder)), id);
  const file = `${directory}.json`;
  const record: WorktreeRecord = { id, kind, owner: await processIdentity(process.pid), top, root };
  const before = await readRecord(file);
  if (before && before.owner !== '' && (await processState(before.owner)) === 'running')
    throw new ToolError('execution_failed', `The worktree ${name} is in use by another process.`);
  const copy = place.rewind.copyOf(top, { directory, id });
  const worktreeOf = (known: Pick<WorktreeRecord, 'base' | 'objects'>) => {
    const { base = '' } = known;
    return new Worktree({ record: { ...record, ...known, base }, copy, directory, file });
  };
  if (before?.base !== undefined && before.top === top) {
    await writeRecord(file, { ...before, owner: record.owner });
    return worktreeOf(before);
  }
  // Half of one is left by a process that was killed.
  await rm(directory, { recursive: true, force: true });
  await writeRecord(file, record);
  try {
    const made = await copy.create(from, signal);
    await writeRecord(file, { ...record, ...made });
    return worktreeOf(made);
  } catch (error) {
    await worktreeOf({}).remove();
    throw error;
  }
}

/** The names of the sessions' worktrees of this repository. */
export async function keptWorktrees({ home, root }: Pick<WorktreePlace, 'home' | 'root'>): Promise<string[]> {
  const top = (await enclosingRepository(root))?.workTree ?? root;
  const prefix = `${keyOf(top)}-`;
  const names = (await readdir(home.file(folder)).catch(() => [])).filter((name) => name.startsWith(prefix));
  const records = await Promise.all(names.map((name) => readRecord(join(home.file(folder), name))));
  return records.flatMap((record) => (record?.kind === 'session' ? [record.id.slice(prefix.length)] : []));
}

function keyOf(top: string): string {
  return createHash('sha256').update(top).digest('hex').slice(0, 8);
}

/** Removes what killed processes left: worktrees of tasks, and those of sessions that were never finished. */
export async function removeLeftovers({ home, rewind }: Omit<WorktreePlace, 'root'>): Promise<void> {
  const directory = home.file(folder);
  for (const name of await readdir(directory).catch(() => [])) {
    const file = join(directory, name);
    const writer = /\.json\.(\d+)$/.exec(name)?.[1];
    if (writer !== undefined && !isRunning(Number(writer))) await rm(file, { force: true });
    const record = name.endsWith('.json') ? await readRecord(file) : undefined;
    if (record === undefined || !(await isLeft(record, file))) continue;
    const { id, top, base = '' } = record;
    const at = join(directory, id);
    const copy = rewind.copyOf(top, { directory: at, id });
    await new Worktree({ record: { ...record, base }, copy, directory: at, file }).remove();
  }
}

async function isLeft({ kind, owner, base }: WorktreeRecord, file: string): Promise<boolean> {
  if (kind === 'session' && base !== undefined) return false;
  const state = await processState(owner);
  if (state !== 'unknown') return state === 'gone';
  return Date.now() - ((await stat(file).catch(() => undefined))?.mtimeMs ?? Infinity) > maxAgeMs;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function readRecord(file: string): Promise<WorktreeRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is WorktreeRecord {
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map(Object.entries(value));
  return ['id', 'kind', 'owner', 'top', 'root'].every((name) => typeof fields.get(name) === 'string');
}
