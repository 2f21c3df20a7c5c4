import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Job, JobBase } from '../job/job.js';
import { diffFlags, git, gitLine } from './git.js';
import { getObject, type Store } from './store.js';

/** The directory in which one task works. */
export interface Checkout {
  readonly directory: string;
  /** What the task has changed so far, as a patch on what it was given. */
  changes(signal: AbortSignal): Promise<{ patch: Buffer; files: string[] }>;
  /** The latest changes with the bytes of binary files, which a patch has compressed. */
  content(signal: AbortSignal): Promise<Buffer>;
  apply(patch: Uint8Array, signal: AbortSignal): Promise<void>;
  remove(): Promise<void>;
}

interface CheckoutOptions {
  /** Where mirrors and the directories of tasks are. */
  root: string;
  /** Names the directory. */
  key: string;
  store: Store;
  job: Job;
}

/** Addresses that reach another machine. Local paths would let a task read any repository of the worker. */
const remoteShape = /^(?:https?:\/\/|ssh:\/\/|git:\/\/|[\w.-]+@[\w.-]+:)[^\s]+$/;
const directoryShape = /^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))/;
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Git locks a repository while it adds a worktree, so that two tasks would get in each other's way. */
const mirrorQueues = new Map<string, Promise<unknown>>();

function oneAtATime<T>(mirror: string, act: () => Promise<T>): Promise<T> {
  const next = Promise.allSettled([mirrorQueues.get(mirror)]).then(act);
  mirrorQueues.set(mirror, next);
  return next;
}

/** Makes the directory of a task: a worktree of the mirror of its repository, or an empty one. */
export async function checkOut({ root, key, store, job }: CheckoutOptions, signal: AbortSignal): Promise<Checkout> {
  const { base, patches = [] } = job;
  const place = join(root, 'jobs', key);
  const top = join(place, 'work');
  await rm(place, { recursive: true, force: true });
  await mkdir(top, { recursive: true, mode: 0o700 });
  const gitDirectory = base ? await addWorktree(root, base, top, store, signal) : join(place, 'git');
  // The task can write its `.git` and its index, so git gets the place of the real one and an index of our own.
  const index = join(place, 'index');
  if (base) await copyFile(join(gitDirectory, 'index'), index);
  const run = async (args: readonly string[], own: AbortSignal, input?: Uint8Array) => {
    if (!existsSync(gitDirectory)) await git(['init', '--quiet', '--bare', gitDirectory], { cwd: place, signal: own });
    const where = [`--git-dir=${gitDirectory}`, `--work-tree=${top}`];
    const env = { GIT_INDEX_FILE: index };
    return git([...where, ...args], { cwd: top, signal: own, env, ...(input && { input }) });
  };
  const apply = async (patch: Uint8Array, own: AbortSignal) =>
    void (await run(['apply', '--binary', '--whitespace=nowarn'], own, patch));
  let before = base?.commit ?? emptyTree;
  if (patches.length > 0) {
    for (const patch of patches) await apply(await getObject(store, patch), signal);
    await run(['add', '--all', '.'], signal);
    before = (await run(['write-tree'], signal)).toString('utf8').trim();
  }
  const directory = join(top, base?.directory ?? '');
  await mkdir(directory, { recursive: true });
  return {
    directory,
    apply,
    async changes(own) {
      if (before === emptyTree && (await readdir(top)).length === 0) return { patch: Buffer.alloc(0), files: [] };
      await run(['add', '--all', '.'], own);
      // One record and one name for each file, then an empty record, then the patch.
      const output = await run(['diff', '--cached', '--raw', '-z', '--patch', ...diffFlags, before], own);
      const end = output.indexOf('\0\0');
      const records = output.toString('utf8', 0, Math.max(0, end)).split('\0');
      return {
        patch: output.subarray(end < 0 ? output.length : end + 2),
        files: records.filter((_, at) => at % 2 === 1),
      };
    },
    content: (own) => run(['diff', '--cached', '--text', ...diffFlags, before], own),
    async remove() {
      await rm(place, { recursive: true, force: true });
      await rm(gitDirectory, { recursive: true, force: true });
    },
  };
}

/** The bare copy of a repository on this worker. */
function mirrorOf(root: string, { remote, commit, pack, directory = '' }: JobBase): string {
  if (!/^[0-9a-f]{40,64}$/.test(commit)) throw new Error(`${JSON.stringify(commit)} is not a commit`);
  if (!directoryShape.test(directory)) throw new Error(`${JSON.stringify(directory)} is outside the repository`);
  if (remote !== undefined && !remoteShape.test(remote))
    throw new Error(`the repository must be an https or ssh address, not ${JSON.stringify(remote)}`);
  return join(root, 'mirrors', hash('sha256', remote ?? `pack ${pack}`).slice(0, 32));
}

/** Returns the directory that git keeps about the worktree. */
function addWorktree(root: string, base: JobBase, top: string, store: Store, signal: AbortSignal): Promise<string> {
  const mirror = mirrorOf(root, base);
  return oneAtATime(mirror, async () => {
    const args = ['worktree', 'add', '--quiet', '--force', '--detach', top, base.commit];
    const add = () => git(args, { cwd: mirror, signal });
    // Mostly the commit is there already.
    await add().catch(() => fillMirror(mirror, base, store, signal).then(add));
    return (await readFile(join(top, '.git'), 'utf8')).replace(/^gitdir: |\n$/g, '');
  });
}

/** Gets the commit. */
async function fillMirror(mirror: string, base: JobBase, store: Store, signal: AbortSignal): Promise<void> {
  const { remote, commit, pack } = base;
  const options = { cwd: mirror, signal };
  if (!existsSync(join(mirror, 'HEAD'))) {
    await mkdir(mirror, { recursive: true, mode: 0o700 });
    await git(['init', '--quiet', '--bare', '.'], options);
  }
  // A worker that died has left its worktrees behind.
  await git(['worktree', 'prune'], options);
  if (pack !== undefined) {
    await git(['index-pack', '--stdin', '--strict'], { ...options, input: await getObject(store, pack) });
  } else if (remote !== undefined) {
    const fetch = (what: string) => git(['fetch', '--quiet', '--no-tags', '--', remote, what], options);
    // Not every server gives out single commits; then all branches are fetched.
    await fetch(commit).catch(() => fetch('+refs/heads/*:refs/heads/*'));
  }
  const type = await gitLine(['cat-file', '-t', commit], options).catch(() => 'missing');
  if (type !== 'commit') throw new Error(`the repository has no commit ${commit}; was it pushed?`);
}
