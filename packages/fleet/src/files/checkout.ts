import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobBase } from '../job/job.js';
import { git, gitLine } from './git.js';
import { getObject, type Store } from './store.js';

/** The directory in which one task works. */
export interface Checkout {
  readonly directory: string;
  /** What the task has changed so far, as a patch on its base. */
  changes(signal: AbortSignal): Promise<{ patch: Buffer; files: string[] }>;
  /** Puts back what an earlier attempt had changed. */
  apply(patch: Uint8Array, signal: AbortSignal): Promise<void>;
  remove(): Promise<void>;
}

export interface CheckoutOptions {
  /** Where mirrors and the directories of tasks are. */
  root: string;
  /** Names the directory. */
  name: string;
  base: JobBase | undefined;
  store: Store;
}

/** Addresses that reach another machine. Local paths would let a task read any repository of the worker. */
const remoteShape = /^(?:https?:\/\/|ssh:\/\/|git:\/\/|[\w.-]+@[\w.-]+:)[^\s]+$/;

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
  const { root, name, base, store } = options;
  const place = join(root, 'jobs', name);
  const directory = join(place, 'work');
  await rm(place, { recursive: true, force: true });
  await mkdir(place, { recursive: true, mode: 0o700 });
  const mirror = base && mirrorOf(root, base);
  if (!base || mirror === undefined) {
    await mkdir(directory);
    await git(['init', '--quiet', '--bare', join(place, 'git')], { cwd: place, signal });
  } else {
    await oneAtATime(mirror, async () => {
      await fillMirror(mirror, base, store, signal);
      await git(['worktree', 'prune'], { cwd: mirror, signal });
      await git(['worktree', 'add', '--quiet', '--force', '--detach', directory, base.commit], { cwd: mirror, signal });
    });
  }
  const location = mirror === undefined ? [`--git-dir=${join(place, 'git')}`, `--work-tree=${directory}`] : [];
  const run = (args: readonly string[], env: Record<string, string> = {}, input?: Uint8Array) =>
    git([...location, ...args], { cwd: directory, signal, env, ...(input && { input }) });
  if (base?.patch !== undefined) await run(['apply', '--binary'], {}, await getObject(store, base.patch));
  const index = join(place, 'index');
  const tree = async (file: string) => {
    await run(['add', '--all', '.'], { GIT_INDEX_FILE: file });
    return (await run(['write-tree'], { GIT_INDEX_FILE: file })).toString('utf8').trim();
  };
  const before = await tree(index);
  return {
    directory,
    async changes() {
      const copy = join(place, 'index-now');
      await copyFile(index, copy);
      const after = await tree(copy);
      if (after === before) return { patch: Buffer.alloc(0), files: [] };
      const patch = await run([
        'diff',
        '--binary',
        '--full-index',
        '--no-renames',
        '--no-ext-diff',
        '--no-textconv',
        before,
        after,
      ]);
      const names = await run(['diff', '--name-only', '-z', '--no-renames', before, after]);
      return { patch, files: names.toString('utf8').split('\0').filter(Boolean) };
    },
    apply: async (patch) => void (await run(['apply', '--binary', '--whitespace=nowarn'], {}, patch)),
    async remove() {
      await rm(place, { recursive: true, force: true });
      // Not with the signal of the task: it may have been aborted.
      const prune = { cwd: mirror ?? root, signal: new AbortController().signal };
      if (mirror !== undefined)
        await oneAtATime(mirror, () => git(['worktree', 'prune'], prune)).catch(() => undefined);
    },
  };
}

/** The bare copy of a repository on this worker. */
function mirrorOf(root: string, { remote, commit, bundle }: JobBase): string {
  if (!/^[0-9a-f]{40,64}$/.test(commit)) throw new Error(`${JSON.stringify(commit)} is not a commit`);
  if (remote !== undefined && !remoteShape.test(remote))
    throw new Error(`the repository must be an https or ssh address, not ${JSON.stringify(remote)}`);
  const key = createHash('sha256')
    .update(remote ?? `bundle ${bundle}`)
    .digest('hex')
    .slice(0, 32);
  return join(root, 'mirrors', key);
}

/** Gets the commit, unless it is there already. */
async function fillMirror(mirror: string, base: JobBase, store: Store, signal: AbortSignal): Promise<void> {
  const { remote, commit, bundle } = base;
  if (!existsSync(join(mirror, 'HEAD'))) {
    await mkdir(mirror, { recursive: true, mode: 0o700 });
    await git(['init', '--quiet', '--bare', '.'], { cwd: mirror, signal });
  }
  const has = () =>
    gitLine(['cat-file', '-t', commit], { cwd: mirror, signal }).then(
      (type) => type === 'commit',
      () => false,
    );
  if (await has()) return;
  if (bundle !== undefined) {
    const file = join(mirror, `${bundle}.bundle`);
    await writeFile(file, await getObject(store, bundle), { mode: 0o600 });
    try {
      await git(['bundle', 'unbundle', file], { cwd: mirror, signal });
    } finally {
      await rm(file, { force: true });
    }
  } else if (remote !== undefined) {
    const fetch = (what: string) => git(['fetch', '--quiet', '--no-tags', '--', remote, what], { cwd: mirror, signal });
    // Not every server gives out single commits; then all branches are fetched.
    await fetch(commit).catch(() => fetch('+refs/heads/*:refs/heads/*'));
  }
  if (!(await has())) throw new Error(`the repository has no commit ${commit}; was it pushed?`);
}
