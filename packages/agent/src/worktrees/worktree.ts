import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type AnyTool, type CallOutcome } from '@lathe/core';
import { type CopyChanges, PrivateStore, type TreeCopy, type WorktreeOrigin } from '@lathe/core/host';
import type { LatheHome, Workspace } from '@lathe/core/tools';
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

export interface WorktreeParts {
  record: WorktreeRecord;
  copy: TreeCopy;
  /** The copy's own directory, as a real path. */
  directory: string;
  home: LatheHome;
}

/** Runs one tool under the rules of the session that gets the changes. */
export type ApplyRunner = (tool: AnyTool) => Promise<CallOutcome>;

/** A copy of a repository, with a branch and a directory of its own, in which an agent works. */
export class Worktree {
  readonly id: string;
  /** Where to work: the same place in the copy as `root` in the original. */
  readonly cwd: string;
  readonly origin: WorktreeOrigin;
  readonly #parts: WorktreeParts;

  constructor(parts: WorktreeParts) {
    const { record, directory } = parts;
    const { id, top, root, objects } = record;
    this.#parts = parts;
    this.id = id;
    this.cwd = join(directory, relative(top, root));
    this.origin = { directory: root, top, copyTop: directory, ...(objects !== undefined && { objects }) };
  }

  /** What was done here, and a patch of it for `git apply`. */
  async changes(signal: AbortSignal): Promise<CopyChanges & { patch: string }> {
    const changes = await this.#parts.copy.changes(this.#base, signal);
    return { ...changes, patch: await this.#patch(changes, pathsOf(changes), signal) };
  }

  /** Makes the changes in the original, after a question if the rules ask for one. What cannot be applied is returned. */
  async merge(
    { by, workspace, run }: { by: string; workspace: Workspace; run: ApplyRunner },
    signal: AbortSignal,
  ): Promise<MergeOutcome> {
    const { copy, record } = this.#parts;
    const changes = await copy.changes(this.#base, signal);
    const plan = await copy.plan(this.#base, changes, signal);
    const paths = pathsOf(plan);
    const conflicts = [...plan.conflicts];
    const rest = () => this.#patch(changes, conflicts, signal);
    const { leftOut } = changes;
    if (paths.length === 0) return { applied: [], conflicts, rest: await rest(), leftOut };
    const apply = async (own: AbortSignal) => {
      const outcomes = await copy.apply(plan, own);
      const left = outcomes.flatMap(({ path, status }) => (status === 'left' ? [path] : []));
      conflicts.push(...left);
      return left;
    };
    const diff = await this.#patch(changes, paths, signal);
    const guarded = new Map(
      plan.files.flatMap(({ path, guarded: reason }) => (reason ? [[path, reason] as const] : [])),
    );
    const outcome = await run(new ApplyChangesTool(workspace, { by, root: record.top, paths, guarded, diff, apply }));
    const applied = paths.filter((path) => !conflicts.includes(path));
    if (outcome.status === 'success' || conflicts.length > plan.conflicts.length)
      return { applied, conflicts, rest: await rest(), leftOut };
    conflicts.push(...paths);
    const refusal = outcome.error?.message ?? 'the person said no';
    return { applied: [], conflicts: plan.conflicts, refusal, rest: await rest(), leftOut };
  }

  /** How a person calls it. */
  get name(): string {
    return nameOf(this);
  }

  /** Leaves it to another process. */
  async release(): Promise<void> {
    const free = (record: WorktreeRecord) => (record.id === this.id ? { ...record, owner: '' } : record);
    await worktreeRecords(this.#parts.home).update((all) => all.map(free));
  }

  /** Leaves nothing behind. */
  async remove(): Promise<void> {
    const { copy, directory, home } = this.#parts;
    // Another process that cleans up may remove the same.
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    await copy.forget(this.cwd, new AbortController().signal);
    // Last, because what is left without it is never found.
    await worktreeRecords(home).update((all) => all.filter(({ id }) => id !== this.id));
  }

  get #base(): string {
    return this.#parts.record.base ?? '';
  }

  #patch({ tree }: CopyChanges, paths: readonly string[], signal: AbortSignal): Promise<string> {
    return this.#parts.copy.patch(this.#base, tree, paths, signal);
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
