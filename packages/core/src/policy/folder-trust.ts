import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { chmod, lstat, open, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { codeOf } from '../files/fs-error.js';
import type { LatheHome } from '../files/lathe-home.js';
import { PrivateStore } from './private-store.js';

/** `unknown`: the user has not decided yet, or the trusted folder was replaced by another one. */
export type TrustState = 'trusted' | 'untrusted' | 'unknown';

/** A decision about a folder. */
export interface TrustRecord extends FolderIdentity {
  path: string;
  state: 'trusted' | 'untrusted';
}

/**
 * Which folders the user trusts. Trust in a folder extends down to the next repository: a clone, submodule or worktree
 * inside it belongs to somebody else and needs its own decision. Distrust extends to everything below. The nearest
 * decision counts.
 */
export class FolderTrust {
  readonly #store: PrivateStore<TrustRecord>;

  constructor(home: LatheHome) {
    this.#store = new PrivateStore(home, 'trusted-folders.json', { key: 'folders', isEntry: isRecord });
  }

  async state(folder: string): Promise<TrustState> {
    const real = await realpath(folder);
    if (await this.#store.isInside(real)) return 'unknown';
    return judge(real, await this.#store.entries());
  }

  /** Why the store is not used, as a warning for the user. */
  problem(): Promise<string | undefined> {
    return this.#store.problem();
  }

  async trust(folder: string): Promise<void> {
    const real = await realpath(folder);
    if (await this.#store.isInside(real)) {
      throw new Error(`${real} contains Lathe's own state; ${oneRun}`);
    }
    await this.#decide(real, 'trusted');
  }

  async distrust(folder: string): Promise<void> {
    await this.#decide(await realpath(folder), 'untrusted');
  }

  async list(): Promise<readonly TrustRecord[]> {
    return this.#store.entries();
  }

  /** Removes a decision, also about a folder that no longer exists. */
  async forget(folder: string): Promise<void> {
    const real = await realpath(folder).catch(() => folder);
    await this.#store.update((records) => records.filter(({ path }) => path !== real && path !== folder));
  }

  async #decide(real: string, state: TrustRecord['state']): Promise<void> {
    const identity = await identityOf(real);
    if (state === 'trusted' && identity.born === undefined && identity.origin === undefined)
      throw new Error(
        `${real} could be replaced unnoticed, because its file system records no creation time; ${oneRun}`,
      );
    const record = { path: real, state, ...identity };
    await this.#store.update((records) => [...records.filter(({ path }) => path !== real), record]);
  }
}

const oneRun = 'it cannot be trusted permanently. Use --trust for one run.';

async function judge(real: string, records: readonly TrustRecord[]): Promise<TrustState> {
  let hasLeftRepository = false;
  for (let folder = real; ; folder = dirname(folder)) {
    const record = records.find(({ path }) => path === folder);
    if (record?.state === 'untrusted') return 'untrusted';
    if (record !== undefined && !hasLeftRepository) return (await isSameFolder(folder, record)) ? 'trusted' : 'unknown';
    if (record !== undefined) return 'unknown';
    if (await isRepository(folder)) hasLeftRepository = true;
    if (dirname(folder) === folder) return 'unknown';
  }
}

/** Anything named `.git`, or a folder that looks like a bare repository. */
async function isRepository(folder: string): Promise<boolean> {
  const exists = async (name: string) =>
    lstat(join(folder, name)).then(
      () => true,
      (error: unknown) => codeOf(error) !== 'ENOENT',
    );
  return (await exists('.git')) || ((await exists('HEAD')) && (await exists('objects')) && (await exists('refs')));
}

function isRecord(value: unknown): value is TrustRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { path, state, device, inode, born, origin }: Partial<Record<keyof TrustRecord, unknown>> = value;
  const isText = [path, device, inode, born ?? '', origin ?? ''].every((text) => typeof text === 'string');
  return isText && (state === 'trusted' || state === 'untrusted');
}

/** What makes a folder the one that was decided about. Inodes are reused, so they alone identify nothing. */
export interface FolderIdentity {
  device: string;
  inode: string;
  /** When the folder was created, if the file system records it. */
  born?: string;
  /** Otherwise a hash of how the history of its repository began. */
  origin?: string;
}

export async function identityOf(folder: string): Promise<FolderIdentity> {
  const info = await stat(folder, { bigint: true });
  if (!info.isDirectory()) throw new Error(`${folder} is not a folder.`);
  const place = { device: `${info.dev}`, inode: `${info.ino}` };
  if (await recordsBirth(folder, info)) return { ...place, born: `${info.birthtimeNs}` };
  const origin = await originOf(folder);
  return { ...place, ...(origin !== undefined && { origin }) };
}

/** False also for a record that names nothing but an inode. */
async function isSameFolder(path: string, known: FolderIdentity): Promise<boolean> {
  const info = await stat(path, { bigint: true }).catch(() => undefined);
  if (info === undefined || known.device !== `${info.dev}` || known.inode !== `${info.ino}`) return false;
  if (known.born !== undefined) return known.born === `${info.birthtimeNs}`;
  return known.origin !== undefined && known.origin === (await originOf(path));
}

/** Longer than the clock tick of any kernel. */
const tickMs = 20;

/** Where creation times are not recorded, Node returns the time of the last change, which would end trust at the next. */
async function recordsBirth(folder: string, { birthtimeNs, ctimeNs, mode }: BigIntStats): Promise<boolean> {
  if (birthtimeNs <= 0n || birthtimeNs > ctimeNs) return false;
  if (birthtimeNs < ctimeNs) return true;
  // A folder that has not changed since it was created: change it without an effect, and see which time moves.
  await setTimeout(tickMs);
  await chmod(folder, Number(mode & 0o7777n)).catch(() => {});
  const after = await stat(folder, { bigint: true });
  return after.ctimeNs !== ctimeNs && after.birthtimeNs === birthtimeNs;
}

const maxLine = 4096;

/** The first line of the log of HEAD holds the first commit or the address of the clone, who made it, and when. */
async function originOf(folder: string): Promise<string | undefined> {
  try {
    const file = await open(join(folder, '.git', 'logs', 'HEAD'));
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(maxLine), 0, maxLine, 0);
      const [line = ''] = buffer.toString('latin1', 0, bytesRead).split('\n', 1);
      return line === '' ? undefined : createHash('sha256').update(line).digest('hex');
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
