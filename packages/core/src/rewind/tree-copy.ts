import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ToolError } from '../contract/errors.js';
import type { Journal } from '../files/undo/journal.js';
import type { FileLocks } from '../files/write/file-lock.js';
import { enclosingRepository } from '../process/shell/git-repository.js';
import { type CopyChanges, type MergePlan, mergeChanges } from './merge-changes.js';
import { namesOf, type PrivateGitPlace } from './open-private-git.js';
import { PrivateGit } from './private-git.js';
import { type RestoreOutcome, restoreFiles } from './restore-files.js';
import { type FileEntry, SnapshotStore, snapshotTree } from './snapshot-store.js';

/** As a line of a results file, it can still be read. */
const maxPatchBytes = 128 << 20;

export interface TreeCopyOptions {
  /** The repository's directory; its `root` is what is copied. */
  place: PrivateGitPlace;
  locks: FileLocks;
  journal: Journal;
  /** Where the copy is, or will be. */
  directory: string;
  /** Names its index and its reference in the private repository. */
  id: string;
}

/**
 * A copy of a repository's files in another directory, and the way back for what was changed there. Both sides are
 * trees of the private repository of snapshots, so neither a hook nor a filter of anybody runs, and the person's
 * repository is never written.
 */
export class TreeCopy {
  readonly #options: TreeCopyOptions;
  readonly #store: SnapshotStore;

  constructor(options: TreeCopyOptions) {
    this.#options = options;
    this.#store = new SnapshotStore(options.place, options.locks);
  }

  /** Writes the files as they are now, or as they are in the last commit. Returns the tree that the copy started from. */
  async create(from: 'now' | 'commit', signal: AbortSignal): Promise<{ base: string; objects?: string }> {
    const { place, directory } = this.#options;
    const own = (await enclosingRepository(place.root))?.own;
    const git = await this.#store.git(signal);
    const head = own && (await this.#head(git, dirname(own.index), signal));
    if (from === 'commit' && head === undefined)
      throw new ToolError('execution_failed', 'There is no commit yet to start from.');
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const base = await (from === 'now' ? this.#checkOutNow(git, signal) : this.#checkOutCommit(git, head, signal));
    await writeFile(this.#reference(git), `${base}\n`, { mode: 0o600 });
    if (own === undefined) return { base };
    await this.#repository(git, own.objects, head, signal);
    return { base, objects: own.objects };
  }

  async changes(base: string, signal: AbortSignal): Promise<CopyChanges> {
    const git = await this.#store.git(signal);
    const { tree, leftOut } = await this.#written(git, signal);
    return { tree, leftOut, files: await this.#store.differences({ tree: base }, { tree }, signal) };
  }

  /** A patch of these files for `git apply`. What is not UTF-8 is in it as git writes binary files. */
  async patch(base: string, { tree, files }: CopyChanges, paths: Set<string>, signal: AbortSignal): Promise<string> {
    if (paths.size === 0) return '';
    const git = await this.#store.git(signal);
    const args = '-r -p --binary --full-index --no-renames --no-ext-diff --no-textconv'.split(' ');
    const options = { signal, borrows: true, maxBytes: maxPatchBytes };
    const pieces = async (isBinary: 'auto' | 'true') =>
      piecesOf(await git.run(['-c', `diff.default.binary=${isBinary}`, 'diff-tree', ...args, base, tree], options));
    const readable = await pieces('auto');
    const exact = readable.every((piece) => isUtf8(piece)) ? readable : await pieces('true');
    const names = files.flatMap(({ path, from, to }) => (isSwap(from, to) ? [path, path] : [path]));
    const chosen = readable.map((piece, at) => (isUtf8(piece) ? piece : (exact[at] ?? piece)));
    return Buffer.concat(chosen.filter((_, at) => paths.has(names[at] ?? ''))).toString('utf8');
  }

  /** Compares the changes with the original as it is now. Changes nothing. */
  async plan(base: string, changes: CopyChanges, signal: AbortSignal): Promise<MergePlan> {
    const now = await this.#store.take(signal);
    const git = await this.#store.git(signal);
    const copy = this.#options.directory;
    return mergeChanges({ store: this.#store, git, base: { tree: base }, now, changes, copy }, signal);
  }

  /** Carries out a plan that a person or a rule has approved. Each write is in the journal. */
  apply({ files }: MergePlan, signal: AbortSignal): Promise<RestoreOutcome[]> {
    const { place, locks, journal } = this.#options;
    const parts = { root: place.root, store: this.#store, locks, journal, tool: 'apply_changes' };
    return restoreFiles(parts, files, signal);
  }

  /** Removes what the private repository keeps for this copy, and the snapshots of a session that worked in `workspace`. */
  async forget(workspace: string, signal: AbortSignal): Promise<void> {
    await rm(this.#options.place.home.file(...namesOf(workspace)), { recursive: true, force: true });
    const git = await this.#store.git(signal);
    const { index } = this.#copy(git).options;
    for (const path of [index, `${index}.lock`, this.#reference(git)]) await rm(path, { force: true });
  }

  #copy(git: PrivateGit): PrivateGit {
    const { directory, id } = this.#options;
    const index = join(git.options.directory, `index-copy-${id}`);
    return new PrivateGit({ ...git.options, root: directory, workTree: directory, index });
  }

  /** Its name has no time in it, so it stays until it is removed. */
  #reference(git: PrivateGit): string {
    return join(git.options.directory, 'refs', 'lathe', `copy-${this.#options.id}`);
  }

  /** Writes the files of the original as they are now. Returns their tree. */
  async #checkOutNow(git: PrivateGit, signal: AbortSignal): Promise<string> {
    const { tree, leftOut } = await this.#store.take(signal);
    await this.#checkOut(git, tree, signal);
    // Submodules are empty directories, as git makes them.
    for (const path of leftOut.filter((each) => each.endsWith('/')))
      await mkdir(join(this.#options.directory, path), { recursive: true, mode: 0o700 });
    return tree;
  }

  /** Writes the files of a commit, whose tree is an object of the person's repository. Returns the same tree as one of ours. */
  async #checkOutCommit(git: PrivateGit, head: string | undefined, signal: AbortSignal): Promise<string> {
    await this.#checkOut(git, `${head}^{tree}`, signal);
    return (await this.#written(git, signal)).tree;
  }

  async #checkOut(git: PrivateGit, tree: string, signal: AbortSignal): Promise<void> {
    const copy = this.#copy(git);
    await copy.run(['read-tree', tree], { signal, borrows: true });
    await copy.run(['checkout-index', '--all', '--force', '--quiet', '--index'], { signal, borrows: true });
  }

  /** The tree of the copy as it is now. */
  #written(git: PrivateGit, signal: AbortSignal) {
    return snapshotTree(this.#copy(git), { own: join(this.#options.directory, '.git'), signal });
  }

  async #head(git: PrivateGit, directory: string, signal: AbortSignal): Promise<string | undefined> {
    const theirs = new PrivateGit({ ...git.options, directory });
    const found = await theirs.run(['rev-parse', '--quiet', '--verify', 'HEAD^{commit}'], { signal, codes: [0, 1] });
    return found.toString('latin1').trim() || undefined;
  }

  /** A repository of the copy's own, with its own references, configuration and hooks, that reads objects of the original. */
  async #repository(git: PrivateGit, objects: string, head: string | undefined, signal: AbortSignal): Promise<void> {
    const { directory, id } = this.#options;
    const path = join(directory, '.git');
    const branch = `refs/heads/lathe/${id}`;
    for (const name of ['objects/info', 'refs/heads/lathe', 'info'])
      await mkdir(join(path, name), { recursive: true, mode: 0o700 });
    await writeFile(join(path, 'HEAD'), `ref: ${branch}\n`);
    await writeFile(join(path, 'config'), configuration);
    await writeFile(join(path, 'objects/info/alternates'), `${objects}\n`);
    const common = dirname(objects);
    if (existsSync(join(common, 'shallow'))) await copyFile(join(common, 'shallow'), join(path, 'shallow'));
    const exclude = await readFile(join(common, 'info/exclude')).catch(() => undefined);
    if (exclude) await writeFile(join(path, 'info/exclude'), exclude);
    if (head === undefined) return;
    await writeFile(join(path, branch), `${head}\n`);
    const index = join(path, 'index');
    const own = new PrivateGit({ ...git.options, directory: path, root: directory, workTree: directory, index });
    await own.run(['read-tree', 'HEAD'], { signal });
  }
}

/** A file has one piece; no other line of a patch begins like the first line of a piece. */
function piecesOf(patch: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let from = 0; from < patch.length; ) {
    const end = patch.indexOf('\ndiff --git ', from) + 1 || patch.length;
    pieces.push(patch.subarray(from, end));
    from = end;
  }
  return pieces;
}

/** A file in place of a symlink, or the reverse: its patch has one piece that removes and one that creates. */
function isSwap(from?: FileEntry, to?: FileEntry): boolean {
  return from !== undefined && to !== undefined && from.mode.slice(0, 3) !== to.mode.slice(0, 3);
}

const configuration = `[core]
	repositoryFormatVersion = 0
	fileMode = ${process.platform !== 'win32'}
	bare = false
	logAllRefUpdates = true
`;
