import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { LatheHome } from '../files/lathe-home.js';
import { PrivateStore } from './private-store.js';

/** `unknown`: nobody was asked yet, or what was trusted is no longer what lies there. */
export type TrustState = 'trusted' | 'untrusted' | 'unknown';

/** A folder somebody decided about, known by where it is and what it is. */
export interface TrustRecord {
  path: string;
  state: 'trusted' | 'untrusted';
  device: string;
  inode: string;
  /** When the folder was made, where the file system remembers it: inodes are used again. */
  born?: string;
}

/**
 * Whose files count. Trust is given to a folder and reaches down to the next repository: a clone, submodule or worktree
 * inside is somebody else's work and asks for itself. Distrust reaches down without end. The nearest decision counts.
 */
export class FolderTrust {
  readonly #store: PrivateStore;

  constructor(home: LatheHome) {
    this.#store = new PrivateStore(home, 'trusted-folders.json');
  }

  async state(folder: string): Promise<TrustState> {
    const real = await realpath(folder);
    if (await this.#store.isInside(real)) return 'unknown';
    const content = await this.#store.read();
    return content.status === 'ok' ? judge(real, recordsOf(content.data)) : 'unknown';
  }

  /** Why the store is not believed, to be shown as a warning; `undefined` when all is well. */
  async problem(): Promise<string | undefined> {
    const content = await this.#store.read();
    return content.status === 'ok' ? undefined : `${this.#store.path} is not used: ${content.reason}`;
  }

  async trust(folder: string): Promise<void> {
    const real = await realpath(folder);
    if (await this.#store.isInside(real)) {
      throw new Error(`${real} holds Lathe's own state and cannot be trusted for good; use --trust for one run.`);
    }
    await this.#decide(real, 'trusted');
  }

  async distrust(folder: string): Promise<void> {
    await this.#decide(await realpath(folder), 'untrusted');
  }

  async list(): Promise<readonly TrustRecord[]> {
    const content = await this.#store.read();
    return content.status === 'ok' ? recordsOf(content.data) : [];
  }

  /** Takes a decision back; also for a folder that no longer exists. */
  async forget(folder: string): Promise<void> {
    const real = await realpath(folder).catch(() => folder);
    await this.#store.update((data) => toData(recordsOf(data).filter(({ path }) => path !== real && path !== folder)));
  }

  async #decide(real: string, state: TrustRecord['state']): Promise<void> {
    const record = { path: real, state, ...(await identityOf(real)) };
    await this.#store.update((data) => toData([...recordsOf(data).filter(({ path }) => path !== real), record]));
  }
}

async function judge(real: string, records: readonly TrustRecord[]): Promise<TrustState> {
  let hasLeftRepository = false;
  for (let folder = real; ; folder = dirname(folder)) {
    const record = records.find(({ path }) => path === folder);
    if (record?.state === 'untrusted') return 'untrusted';
    if (record !== undefined && !hasLeftRepository) return (await isSame(record)) ? 'trusted' : 'unknown';
    if (record !== undefined) return 'unknown';
    if (await isRepository(folder)) hasLeftRepository = true;
    if (dirname(folder) === folder) return 'unknown';
  }
}

/** Whatever bears the name `.git`, or looks like a bare repository, marks somebody's own work. */
async function isRepository(folder: string): Promise<boolean> {
  const exists = async (name: string) =>
    lstat(join(folder, name)).then(
      () => true,
      (error: unknown) => !(error instanceof Error && 'code' in error && error.code === 'ENOENT'),
    );
  return (await exists('.git')) || ((await exists('HEAD')) && (await exists('objects')) && (await exists('refs')));
}

async function identityOf(folder: string): Promise<Omit<TrustRecord, 'path' | 'state'>> {
  const info = await stat(folder, { bigint: true });
  if (!info.isDirectory()) throw new Error(`${folder} is not a folder.`);
  // Where births are not recorded, the change time stands in for them and would void the trust at the next change.
  const isRecorded = info.birthtimeNs > 0n && info.birthtimeNs < info.ctimeNs;
  return { device: `${info.dev}`, inode: `${info.ino}`, ...(isRecorded && { born: `${info.birthtimeNs}` }) };
}

async function isSame(record: TrustRecord): Promise<boolean> {
  const info = await stat(record.path, { bigint: true }).catch(() => undefined);
  if (info === undefined || record.device !== `${info.dev}` || record.inode !== `${info.ino}`) return false;
  return record.born === undefined || record.born === `${info.birthtimeNs}`;
}

function toData(folders: readonly TrustRecord[]): unknown {
  return { version: 1, folders };
}

/** Entries that are not what we write are not believed. */
function recordsOf(data: unknown): TrustRecord[] {
  if (typeof data !== 'object' || data === null || !('folders' in data) || !Array.isArray(data.folders)) return [];
  return data.folders.filter(isRecord);
}

function isRecord(value: unknown): value is TrustRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { path, state, device, inode, born }: Partial<Record<keyof TrustRecord, unknown>> = value;
  const isText = [path, device, inode, born ?? ''].every((text) => typeof text === 'string');
  return isText && (state === 'trusted' || state === 'untrusted');
}
