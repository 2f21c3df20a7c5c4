import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { JobBase } from '../job/job.js';
import { git, gitLine } from './git.js';
import { putObject, type Store } from './store.js';

/**
 * What a worker needs to get the files of `directory` as they are now: the pushed commit and a patch, or a snapshot when
 * the commit is only here. Undefined outside a repository. The repository itself is not changed.
 */
export async function makeBase(directory: string, store: Store, signal: AbortSignal): Promise<JobBase | undefined> {
  const options = { cwd: directory, signal };
  const root = await gitLine(['rev-parse', '--show-toplevel'], options).catch(() => undefined);
  if (root === undefined) return undefined;
  const head = await gitLine(['rev-parse', '--verify', 'HEAD^{commit}'], options).catch(() => undefined);
  const remote = await gitLine(['remote', 'get-url', 'origin'], options).catch(() => undefined);
  const scratch = await mkdtemp(join(tmpdir(), 'lathe-fleet-'));
  try {
    const objects = resolve(root, await gitLine(['rev-parse', '--git-path', 'objects'], { ...options, cwd: root }));
    // New objects go to a directory of our own.
    const env = {
      GIT_INDEX_FILE: join(scratch, 'index'),
      GIT_OBJECT_DIRECTORY: join(scratch, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    };
    const here = { cwd: root, signal, env };
    await git(['init', '--quiet', '--bare', scratch], { cwd: root, signal });
    if (head !== undefined) await git(['read-tree', head], here);
    await git(['add', '--all', '.'], here);
    const tree = await gitLine(['write-tree'], here);
    const isPushed =
      remote !== undefined &&
      head !== undefined &&
      isRemote(remote) &&
      (await gitLine(['branch', '--remotes', '--contains', head], options)) !== '';
    if (isPushed) {
      const patch = await git(
        ['diff', '--binary', '--full-index', '--no-renames', '--no-ext-diff', '--no-textconv', head, tree],
        here,
      );
      return { remote, commit: head, ...(patch.length > 0 && { patch: await putObject(store, patch) }) };
    }
    const commit = await gitLine(['commit-tree', '-m', 'Snapshot', tree], here);
    await git(['update-ref', 'refs/heads/snapshot', commit], {
      ...here,
      cwd: scratch,
      env: { ...env, GIT_DIR: scratch },
    });
    const bundle = await git(['bundle', 'create', '--quiet', '-', 'refs/heads/snapshot'], {
      ...here,
      cwd: scratch,
      env: { ...env, GIT_DIR: scratch },
    });
    return { commit, bundle: await putObject(store, bundle) };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const isRemote = (address: string): boolean => /^(?:https?|ssh|git):\/\/|^[\w.-]+@[\w.-]+:/.test(address);
