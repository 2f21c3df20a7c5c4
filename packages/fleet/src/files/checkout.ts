import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Job, JobBase } from '../job/job.js';
import { diffFlags, git, gitLine } from './git.js';
import { getObject, type Store } from './store.js';

/** The directory in which one task works. */
export interface Checkout {
  readonly directory: string;
  /** What the task has changed so far, as a patch on what it was given. */
  changes(signal: AbortSignal): Promise<{ patch: Buffer; files: string[] }>;
  apply(patch: Uint8Array, signal: AbortSignal): Promise<void>;
  remove(): Promise<void>;
}

export interface CheckoutOptions {
  /** Where mirrors and the directories of tasks are. */
  root: string;
  /** Names the directory. */
  name: string;
  store: Store;
  job: Pick<Job, 'base' | 'patches'>;
}

/** Addresses that reach another machine. Local paths would let a task read any repository of the worker. */
const remoteShape = /^(?:https?:\/\/|ssh:\/\/|git:\/\/|[\w.-]+@[\w.-]+:)[^\s]+$/;
const directoryShape = /^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))/;
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Git locks a repository while it adds a worktree, so that two tasks would get in each other's way. */
const mirrorQueues = new Map<string, Promise<unknown>>();

function oneAtATime<T>(mirror: string, act: () => Promise<T>): Promise<T> {
  const next = (mirrorQueues.get(mirror) ?? Promise.resolve()).then(act);
  mirrorQueues.set(
    mirror,
    next.catch(() => undefined),
  );
  return next;
}

/** Makes the directory of a task: a worktree of the mirror of its repository, or an empty one. */
export async function checkOut(options: CheckoutOptions, signal: AbortSignal): Promise<Checkout> {
  const { root, name, store, job } = options;
  const { base, patches = [] } = job;
  const place = join(root, 'jobs', name);
  const top = join(place, 'work');
  const mirror = base && mirrorOf(root, base);
  await rm(place, { recursive: true, force: true });
  await mkdir(top, { recursive: true, mode: 0o700 });
  const gitDirectory = base && mirror ? await addWorktree(mirror, base, top, store, signal) : join(place, 'git');
  const index = join(place, 'index');
  if (mirror !== undefined) await copyFile(join(gitDirectory, 'index'), index);
  // The task can write its `.git`, so git gets the place of the real one.
  const run = async (args: readonly string[], own: AbortSignal, more: { file?: string; input?: Uint8Array } = {}) => {
    if (!existsSync(gitDirectory)) await git(['init', '--quiet', '--bare', gitDirectory], { cwd: place, signal: own });
    const { file, input } = more;
    const env = file === undefined ? {} : { GIT_INDEX_FILE: file };
    const where = [`--git-dir=${gitDirectory}`, `--work-tree=${top}`];
    return git([...where, ...args], { cwd: top, signal: own, env, ...(input && { input }) });
  };
  const tree = async (file: string, own: AbortSignal) => {
    await run(['add', '--all', '.'], own, { file });
    return (await run(['write-tree'], own, { file })).toString('utf8').trim();
  };
  const apply = async (input: Uint8Array, own: AbortSignal) =>
    void (await run(['apply', '--binary', '--whitespace=nowarn'], own, { input }));
  for (const patch of patches) await apply(await getObject(store, patch), signal);
  const before = patches.length > 0 ? await tree(index, signal) : (base?.commit ?? emptyTree);
  const directory = join(top, base?.directory ?? '');
  await mkdir(directory, { recursive: true });
  return {
    directory,
    apply,
    async changes(own) {
      const nothing = { patch: Buffer.alloc(0), files: [] };
      if (before === emptyTree && (await readdir(top)).length === 0) return nothing;
      const copy = join(place, 'index-now');
      if (existsSync(index)) await copyFile(index, copy);
      const after = await tree(copy, own);
      const patch = await run(['diff', ...diffFlags, before, after], own);
      if (patch.length === 0) return nothing;
      const names = await run(['diff', '--name-only', '-z', '--no-renames', before, after], own);
      return { patch, files: names.toString('utf8').split('\0').filter(Boolean) };
    },
    async remove() {
      await rm(place, { recursive: true, force: true });
      if (mirror === undefined) return;
      // Not with the signal of the task: it may have been aborted.
      const prune = { cwd: mirror, signal: new AbortController().signal };
      await oneAtATime(mirror, () => git(['worktree', 'prune'], prune)).catch(() => undefined);
    },
  };
}

/** The bare copy of a repository on this worker. */
function mirrorOf(root: string, { remote, commit, bundle, directory = '' }: JobBase): string {
  if (!/^[0-9a-f]{40,64}$/.test(commit)) throw new Error(`${JSON.stringify(commit)} is not a commit`);
  if (!directoryShape.test(directory)) throw new Error(`${JSON.stringify(directory)} is outside the repository`);
  if (remote !== undefined && !remoteShape.test(remote))
    throw new Error(`the repository must be an https or ssh address, not ${JSON.stringify(remote)}`);
  const key = createHash('sha256').update(remote ?? `bundle ${bundle}`);
  return join(root, 'mirrors', key.digest('hex').slice(0, 32));
}

/** Returns the directory that git keeps about the worktree. */
function addWorktree(mirror: string, base: JobBase, top: string, store: Store, signal: AbortSignal): Promise<string> {
  return oneAtATime(mirror, async () => {
    await fillMirror(mirror, base, store, signal);
    await git(['worktree', 'prune'], { cwd: mirror, signal });
    await git(['worktree', 'add', '--quiet', '--force', '--detach', top, base.commit], { cwd: mirror, signal });
    return gitLine(['rev-parse', '--absolute-git-dir'], { cwd: top, signal });
  });
}

/** Gets the commit, unless it is there already. */
async function fillMirror(mirror: string, base: JobBase, store: Store, signal: AbortSignal): Promise<void> {
  const { remote, commit, bundle } = base;
  const options = { cwd: mirror, signal };
  if (!existsSync(join(mirror, 'HEAD'))) {
    await mkdir(mirror, { recursive: true, mode: 0o700 });
    await git(['init', '--quiet', '--bare', '.'], options);
  }
  const has = () =>
    gitLine(['cat-file', '-t', commit], options).then(
      (type) => type === 'commit',
      () => false,
    );
  if (await has()) return;
  if (bundle !== undefined) {
    const file = join(mirror, `${bundle}.bundle`);
    await writeFile(file, await getObject(store, bundle), { mode: 0o600 });
    try {
      await git(['bundle', 'unbundle', file], options);
    } finally {
      await rm(file, { force: true });
    }
  } else if (remote !== undefined) {
    const fetch = (what: string) => git(['fetch', '--quiet', '--no-tags', '--', remote, what], options);
    // Not every server gives out single commits; then all branches are fetched.
    await fetch(commit).catch(() => fetch('+refs/heads/*:refs/heads/*'));
  }
  if (!(await has())) throw new Error(`the repository has no commit ${commit}; was it pushed?`);
}
