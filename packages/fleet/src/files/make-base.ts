import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import type { Job } from '../job/job.js';
import { diffFlags, git, gitLine } from './git.js';
import { putObject, type Store } from './store.js';

type GivenFiles = Pick<Job, 'base' | 'patches'>;

const snapshotDate = '2000-01-01T00:00:00Z';

/**
 * What a worker needs to get the files of `directory` as they are now: the pushed commit and a patch, or a snapshot when
 * the commit is only here. Nothing outside a repository. The repository itself is not changed.
 */
export async function makeBase(directory: string, store: Store, signal: AbortSignal): Promise<GivenFiles> {
  const options = { cwd: directory, signal };
  const line = (...args: string[]) => gitLine(args, options).catch(() => undefined);
  const root = await line('rev-parse', '--show-toplevel');
  if (root === undefined) return {};
  const inside = { directory: relative(root, await realpath(directory)) };
  const head = await line('rev-parse', '--verify', 'HEAD^{commit}');
  const remote = withoutPassword(await line('remote', 'get-url', 'origin'));
  const scratch = await mkdtemp(join(tmpdir(), 'lathe-fleet-'));
  try {
    const objects = resolve(root, await gitLine(['rev-parse', '--git-path', 'objects'], { cwd: root, signal }));
    // New objects go to a directory of our own.
    const env = {
      GIT_INDEX_FILE: join(scratch, 'index'),
      GIT_OBJECT_DIRECTORY: join(scratch, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
      // The same files give the same snapshot.
      GIT_AUTHOR_DATE: snapshotDate,
      GIT_COMMITTER_DATE: snapshotDate,
    };
    const here = { cwd: root, signal, env };
    await git(['init', '--quiet', '--bare', scratch], { cwd: root, signal });
    if (head !== undefined) await git(['read-tree', head], here);
    await git(['add', '--all', '.'], here);
    const tree = await gitLine(['write-tree'], here);
    if (remote !== undefined && head !== undefined && (await line('branch', '--remotes', '--contains', head))) {
      const patch = await git(['diff', ...diffFlags, head, tree], here);
      const base = { remote, commit: head, ...inside };
      return { base, ...(patch.length > 0 && { patches: [await putObject(store, patch)] }) };
    }
    const commit = await gitLine(['commit-tree', '-m', 'Snapshot', tree], here);
    const pack = await git(['pack-objects', '--quiet', '--revs', '--stdout'], { ...here, input: Buffer.from(commit) });
    return { base: { commit, pack: await putObject(store, pack), ...inside } };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The address that a worker can use with credentials of its own; undefined for a place on this machine. */
function withoutPassword(address: string | undefined): string | undefined {
  if (address === undefined || /^[\w.-]+@[\w.-]+:/.test(address)) return address;
  if (!/^(?:https?|ssh|git):\/\//.test(address)) return undefined;
  const url = new URL(address);
  url.password = '';
  if (url.protocol !== 'ssh:') url.username = '';
  return url.href;
}
