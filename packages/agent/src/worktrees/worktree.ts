import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Lathe, type LatheHost, ToolRegistry } from '@lathe/core';
import { type CopyChanges, PrivateStore, type Rewind, type TreeCopy, type WorktreeOrigin } from '@lathe/core/host';
import type { LatheHome } from '@lathe/core/tools';
import { ApplyChangesTool } from './apply-changes.js';

/** What is on disk about a worktree, so that a later process can continue with it or remove it. */
export interface WorktreeRecord {
  id: string;
  /** A task's worktree ends with its process. A session's stays until its changes are applied or discarded. */
  kind: 'task' | 'session';
  /** The process that uses it, since this time. */
  owner: string;
  time: number;
  /** The repository that it is a copy of, and the directory in it to work in. */
  top: string;
  root: string;
  /** The tree that it started from; missing while it is being made. */
  base?: string;
  objects?: string;
}

/** What became of the changes in a worktree. */
export interface MergeOutcome {
  applied: readonly string[];
  /** Files that are as they were, because they changed on both sides. */
  conflicts: readonly string[];
  /** Why nothing was applied, if so. */
  refusal?: string;
  /** The changes that were not applied, for `git apply`. */
  rest: string;
  /** Files that are too large for it, or cannot be read. */
  leftOut: readonly string[];
}

/** Who made the changes, the session that gets them, and how that asks. */
export interface Merge {
  by: string;
  into: Pick<Lathe, 'workspace'> & Pick<LatheHost, 'openScheduler'>;
  asking?: Parameters<LatheHost['openScheduler']>[0];
}

export interface WorktreeParts {
  record: WorktreeRecord;
  rewind: Pick<Rewind, 'copyOf'>;
  /** The copy's own directory, as a real path. */
  directory: string;
  home: LatheHome;
}

/** A copy of a repository, with a branch and a directory of its own, in which an agent works. */
export class Worktree {
  /** How a person calls it. */
  readonly name: string;
  /** Where to work: the same place in the copy as `root` in the original. */
  readonly cwd: string;
  readonly origin: WorktreeOrigin;
  readonly #parts: WorktreeParts;
  readonly #copy: TreeCopy;
  readonly #base: string;

  constructor(parts: WorktreeParts) {
    const { record, directory, rewind } = parts;
    const { id, top, root, objects, base = '' } = record;
    this.#parts = parts;
    this.#copy = rewind.copyOf(top, { directory, id });
    this.#base = base;
    this.name = nameOf(record);
    this.cwd = join(directory, relative(top, root));
    this.origin = { directory: root, top, copyTop: directory, ...(objects !== undefined && { objects }) };
  }

  /** Writes the files of the original. Returns what to remember about that. */
  create(from: 'now' | 'commit', signal: AbortSignal): Promise<Pick<WorktreeRecord, 'base' | 'objects'>> {
    return this.#copy.create(from, signal);
  }

  /** What was done here, and a patch of it for `git apply`. */
  async changes(signal: AbortSignal): Promise<CopyChanges & { patch: string }> {
    const changes = await this.#copy.changes(this.#base, signal);
    return { ...changes, patch: await this.#patch(changes, pathsOf(changes), signal) };
  }

  /** Makes the changes in the original, after a question if the rules ask for one. What cannot be applied is returned. */
  async merge({ by, into, asking }: Merge, signal: AbortSignal): Promise<MergeOutcome> {
    const changes = await this.#copy.changes(this.#base, signal);
    const plan = await this.#copy.plan(this.#base, changes, signal);
    const paths = pathsOf(plan);
    const left: string[] = [];
    const apply = async (own: AbortSignal) => {
      const outcomes = await this.#copy.apply(plan, own);
      left.push(...outcomes.flatMap(({ path, status }) => (status === 'left' ? [path] : [])));
      return left;
    };
    let refusal: string | undefined;
    if (paths.length > 0) {
      const diff = await this.#patch(changes, paths, signal);
      const prepared = { by, root: this.origin.top, files: plan.files, diff, apply };
      const registry = new ToolRegistry();
      registry.registerTool(new ApplyChangesTool(into.workspace, prepared));
      const scheduler = into.openScheduler({ ...asking, registry });
      const [outcome] = await scheduler.run([{ name: ApplyChangesTool.toolName, args: {} }], signal);
      signal.throwIfAborted();
      const isRefused = outcome?.status !== 'success' && left.length === 0;
      if (isRefused) refusal = outcome?.error?.message ?? 'the person said no';
    }
    const missing = refusal === undefined ? left : paths;
    return {
      applied: paths.filter((path) => !missing.includes(path)),
      conflicts: [...plan.conflicts, ...left],
      ...(refusal !== undefined && { refusal }),
      rest: await this.#patch(changes, [...plan.conflicts, ...missing], signal),
      leftOut: changes.leftOut,
    };
  }

  /** Leaves it to another process. */
  async release(): Promise<void> {
    const { home, record } = this.#parts;
    const free = (each: WorktreeRecord) => (each.id === record.id ? { ...each, owner: '' } : each);
    await worktreeRecords(home).update((all) => all.map(free));
  }

  /** Leaves nothing behind. */
  async remove(): Promise<void> {
    const { directory, home, record } = this.#parts;
    // Another process that cleans up may remove the same.
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    await this.#copy.forget(this.cwd, new AbortController().signal);
    // Last, because what is left without it is never found.
    await worktreeRecords(home).update((all) => all.filter(({ id }) => id !== record.id));
  }

  #patch(changes: CopyChanges, paths: readonly string[], signal: AbortSignal): Promise<string> {
    return this.#copy.patch(this.#base, changes, new Set(paths), signal);
  }
}

/** How a person calls a worktree; before it stands the repository's key. */
export function nameOf({ id }: Pick<WorktreeRecord, 'id'>): string {
  return id.slice(id.indexOf('-') + 1);
}

/** All worktrees. What a killed process left is found by it. */
export function worktreeRecords(home: LatheHome): PrivateStore<WorktreeRecord> {
  return new PrivateStore(home, 'worktrees.json', { key: 'worktrees', isEntry });
}

function isEntry(value: unknown): value is WorktreeRecord {
  const fields = new Map<string, unknown>(Object.entries(Object(value)));
  const hasTexts = ['id', 'kind', 'owner', 'top', 'root'].every((name) => typeof fields.get(name) === 'string');
  return hasTexts && /^[\da-f]{8}-[\w.-]+$/.test(String(fields.get('id'))) && typeof fields.get('time') === 'number';
}

function pathsOf({ files }: Pick<CopyChanges, 'files'>): string[] {
  return files.map(({ path }) => path);
}
