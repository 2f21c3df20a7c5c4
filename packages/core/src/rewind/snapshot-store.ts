import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { shownPath } from '../files/file-name.js';
import type { FileLocks } from '../files/write/file-lock.js';
import { prefixOf } from './borrow-index.js';
import { batchContents, changeRecords, joinZero, objectSizes, splitZero } from './git-output.js';
import { ignoredPaths } from './ignored-paths.js';
import { openPrivateGit, type PrivateGitPlace } from './open-private-git.js';
import { GitFailure, type PrivateGit } from './private-git.js';
import { defaultLimits, type SnapshotLimits, scanWorkspace } from './scan-workspace.js';

/** The files of the workspace at one moment. */
export interface WorkspaceSnapshot {
  /** A tree of the private repository. */
  tree: string;
  /** What is not part of it, relative to the workspace. A directory with a repository of its own ends in a slash. */
  leftOut: readonly string[];
  /** In milliseconds since 1970. */
  time: number;
}

/** A file as git sees it. */
export interface FileEntry {
  /** `100644`, `100755` for an executable file, or `120000` for a symlink. */
  mode: string;
  /** The id of its content, which for a symlink is its target. */
  id: string;
}

export interface FileDifference {
  /** Relative to the workspace, as shown to people. */
  path: string;
  /** Missing when the file is new. */
  from?: FileEntry;
  /** Missing when the file is gone. */
  to?: FileEntry;
}

const keptDays = 30;
/** Contents are read in groups of this size. */
const groupBytes = 32 << 20;

/**
 * Snapshots of one workspace, in a git repository of our own. Reads only files that changed. Ignored files are not part
 * of a snapshot. The person's repository is never written.
 */
export class SnapshotStore {
  readonly #place: PrivateGitPlace;
  readonly #locks: FileLocks;
  readonly #limits: SnapshotLimits;
  #git: PrivateGit | undefined;

  constructor(place: PrivateGitPlace, locks: FileLocks, limits: Partial<SnapshotLimits> = {}) {
    this.#place = place;
    this.#locks = locks;
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** Takes a snapshot of the workspace as it is now. */
  async take(signal: AbortSignal): Promise<WorkspaceSnapshot> {
    return this.#exclusively(signal, async (git) => {
      const time = Date.now();
      const own = this.#place.home.path;
      const { tree, leftOut } = await snapshotTree(git, { own, limits: this.#limits, signal });
      // Keeps the tree until `prune`.
      const reference = join(git.options.directory, 'refs', 'lathe', `${time}-${tree}`);
      await writeFile(reference, `${tree}\n`, { mode: 0o600 });
      return { tree, leftOut, time };
    });
  }

  /** The files that differ between two snapshots. */
  async differences(
    from: Pick<WorkspaceSnapshot, 'tree'>,
    to: Pick<WorkspaceSnapshot, 'tree'>,
    signal: AbortSignal,
  ): Promise<FileDifference[]> {
    if (from.tree === to.tree) return [];
    const git = await this.#opened(signal);
    const output = await git.run(['diff-tree', '-r', '-z', '--no-renames', from.tree, to.tree], { signal });
    return changeRecords(output).map(({ head, path }) => {
      const [fromMode = '', toMode = '', fromId = '', toId = ''] = head.slice(1).split(' ');
      return {
        path: shownPath(path),
        ...(fromMode !== '000000' && { from: { mode: fromMode, id: fromId } }),
        ...(toMode !== '000000' && { to: { mode: toMode, id: toId } }),
      };
    });
  }

  /** How many lines `to` adds and removes, by path. Binary files are missing. */
  async lineCounts(
    from: WorkspaceSnapshot,
    to: WorkspaceSnapshot,
    signal: AbortSignal,
  ): Promise<Map<string, LineCount>> {
    const git = await this.#opened(signal);
    const args = ['diff-tree', '-r', '-z', '--no-renames', '--numstat', '--no-ext-diff', '--no-textconv'];
    const output = await git.run([...args, from.tree, to.tree], { signal, borrows: true });
    const counts = splitZero(output).flatMap((record) => {
      const [added = '', removed = ''] = record.toString('latin1').split('\t', 2);
      const path = shownPath(record.subarray(added.length + removed.length + 2));
      return added === '-' ? [] : [[path, { added: Number(added), removed: Number(removed) }] as const];
    });
    return new Map(counts);
  }

  /** The sizes of these contents. One that is no longer kept is missing. */
  async sizesOf(ids: readonly string[], signal: AbortSignal): Promise<Map<string, number>> {
    return objectSizes(await this.#opened(signal), ids, signal);
  }

  /** These contents, as far as they are kept, in the order of the ids. */
  async *contentsOf(ids: readonly string[], signal: AbortSignal): AsyncGenerator<[id: string, content: Buffer]> {
    const git = await this.#opened(signal);
    const sizes = [...(await this.sizesOf([...new Set(ids)], signal))];
    while (sizes.length > 0) {
      let bytes = 0;
      const next = sizes.findIndex(([, size], at) => at > 0 && (bytes += size) > groupBytes);
      const group = sizes.splice(0, next < 0 ? sizes.length : next);
      const input = group.map(([id]) => `${id}\n`).join('');
      const limits = { signal, borrows: true, maxBytes: 2 ** 31 };
      const output = await git.run(['cat-file', '--buffer', '--batch'], { input, ...limits });
      for (const [id, content] of batchContents(output)) if (blobId(content) === id) yield [id, content];
    }
  }

  /**
   * Copies contents that only the person's repository has, because it may remove them: those of files that changed
   * between two snapshots.
   */
  async keep(from: WorkspaceSnapshot, to: WorkspaceSnapshot, signal: AbortSignal): Promise<void> {
    const git = await this.#opened(signal);
    if (git.options.borrowed === undefined) return;
    const pathOf = (id: string) => join(git.options.directory, 'objects', id.slice(0, 2), id.slice(2));
    const ids = (await this.differences(from, to, signal)).flatMap((each) => each.from?.id ?? []);
    const borrowed = ids.filter((id) => !existsSync(pathOf(id)));
    for await (const [id, content] of this.contentsOf(borrowed, signal)) await writeObject(pathOf(id), content);
  }

  /** Which of these paths the `.gitignore` files of a snapshot exclude. */
  async ignoredIn(
    { tree }: WorkspaceSnapshot,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    return ignoredPaths(await this.#opened(signal), { tree, paths, signal });
  }

  /** Forgets old snapshots. */
  async prune(signal: AbortSignal, days = keptDays): Promise<void> {
    await this.#exclusively(signal, async (git) => {
      const references = join(git.options.directory, 'refs', 'lathe');
      const oldest = Date.now() - days * 86_400_000;
      const old = (await readdir(references)).filter((name) => Number.parseInt(name, 10) < oldest);
      for (const name of old) await rm(join(references, name));
      if (old.length > 0) await git.run(['prune', '--expire=1.hour.ago'], { signal });
    });
  }

  /** The private repository, for work on other trees in it. */
  git(signal: AbortSignal): Promise<PrivateGit> {
    return this.#opened(signal);
  }

  async #opened(signal: AbortSignal): Promise<PrivateGit> {
    return this.#git ?? this.#exclusively(signal, async (git) => git);
  }

  /** One process at a time uses the index. */
  async #exclusively<T>(signal: AbortSignal, work: (git: PrivateGit) => Promise<T>): Promise<T> {
    const { home, root } = this.#place;
    return this.#locks.hold(home.file('rewind', root), signal, async () => {
      const git = (this.#git ??= await openPrivateGit(this.#place, signal));
      // Left by a process that was killed: nobody else holds our own lock.
      await rm(`${git.options.index}.lock`, { force: true });
      return work(git);
    });
  }
}

/** How many lines of a file change. */
export interface LineCount {
  added: number;
  removed: number;
}

/** Writes the tree of the files that are there now, apart from those below `own`. */
export async function snapshotTree(
  git: PrivateGit,
  options: { own: string; limits?: SnapshotLimits; signal: AbortSignal },
): Promise<Pick<WorkspaceSnapshot, 'tree' | 'leftOut'>> {
  const { own, limits = defaultLimits, signal } = options;
  const { removed, added, leftOut } = await scanWorkspace(git, { own, limits, signal });
  await updateIndex(git, ['--force-remove'], removed, signal);
  await updateIndex(git, ['--add', '--replace'], added, signal);
  return { tree: await writeTree(git, signal), leftOut };
}

/** The id that git gives to a content. */
export function blobId(content: Uint8Array): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

async function updateIndex(git: PrivateGit, how: readonly string[], names: readonly Buffer[], signal: AbortSignal) {
  if (names.length === 0) return;
  await git.run(['update-index', '-z', ...how, '--stdin'], { input: joinZero(names), signal });
}

async function writeTree(git: PrivateGit, signal: AbortSignal): Promise<string> {
  const prefix = prefixOf(git);
  const below = prefix === '' ? [] : [`--prefix=${prefix}`];
  const tree = git.run(['write-tree', '--missing-ok', ...below], { signal }).catch((error: unknown) => {
    if (!(error instanceof GitFailure) || !error.message.includes('not found')) throw error;
    // There are no files below the prefix.
    return git.run(['mktree'], { signal });
  });
  return (await tree).toString('latin1').trim();
}

const compress = promisify<Uint8Array, Buffer>(deflate);

/** Stores a content as git does. */
async function writeObject(path: string, content: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temp = `${path}.${process.pid}`;
  await writeFile(temp, await compress(Buffer.concat([Buffer.from(`blob ${content.length}\0`), content])), {
    mode: 0o400,
  });
  await rename(temp, path);
}
