import { createHash, randomBytes } from 'node:crypto';
import { lstat, readdir, readFile, readlink, symlink, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ToolError } from '../../contract/errors.js';
import { codeOf } from '../fs-error.js';
import type { LatheHome } from '../lathe-home.js';
import { sweepTemp } from './durable-write.js';
import { toWriteError } from './write-errors.js';

/**
 * One writer per file, in this process and among all processes that share the home directory. A lock is a symlink whose
 * target names the holder: it is created in one step with its content, so nobody reads half of it. The lock of a dead
 * process is taken over, and the temporary file of its interrupted write is removed.
 */
export class FileLocks {
  readonly #home: LatheHome;
  readonly #patienceMs: number;
  /** The last call for each file in this process; the next one waits for it. */
  readonly #queues = new Map<string, Promise<void>>();

  constructor(home: LatheHome, { patienceMs = 30_000 } = {}) {
    this.#home = home;
    this.#patienceMs = patienceMs;
  }

  /** Runs `work` while no other writer holds the file. `token` names this hold and the temporary file of a write. */
  async hold<T>(realPath: string, signal: AbortSignal, work: (token: string) => Promise<T>): Promise<T> {
    const before = this.#queues.get(realPath) ?? Promise.resolve();
    const result = before.then(() => this.#holdAcrossProcesses(realPath, signal, work));
    const settled = result.then(ignore, ignore);
    this.#queues.set(realPath, settled);
    try {
      return await result;
    } finally {
      if (this.#queues.get(realPath) === settled) this.#queues.delete(realPath);
    }
  }

  async #holdAcrossProcesses<T>(path: string, signal: AbortSignal, work: (token: string) => Promise<T>): Promise<T> {
    const token = newToken();
    const holder = await describe({ token, path });
    const lock = this.#home.file('locks', createHash('sha256').update(path).digest('hex').slice(0, 32));
    try {
      await this.#acquire(lock, holder, path, signal);
      return await work(token);
    } finally {
      await release(lock, holder, token);
    }
  }

  async #acquire(lock: string, holder: string, path: string, signal: AbortSignal): Promise<void> {
    // Kept in a variable that is used below: Node 20 collects a timeout that only `AbortSignal.any` knows.
    const timeout = AbortSignal.timeout(this.#patienceMs);
    const patience = AbortSignal.any([signal, timeout]);
    try {
      await sweep(await this.#home.directory('locks'));
      await acquire(lock, holder, patience);
    } catch (cause) {
      signal.throwIfAborted();
      if (!timeout.aborted) throw toWriteError(cause, lock);
      const message = `${path} is being written by another process; try again later`;
      throw new ToolError('file_write_failure', message, { cause });
    }
  }
}

/** The locks that this process holds or tries to take. Any other lock of this process is stale. */
const inUse = new Set<string>();

function newToken(): string {
  const token = randomBytes(16).toString('hex');
  inUse.add(token);
  return token;
}

/** A lock that cannot be removed must not turn a success into a failure: it counts as stale from now on. */
async function release(lock: string, holder: string, token: string): Promise<void> {
  if ((await readlink(lock).catch(() => undefined)) === holder) await unlink(lock).catch(ignore);
  inUse.delete(token);
}

const ignore = () => {};

interface Holder {
  token: string;
  /** The file being written. */
  path: string;
}

async function acquire(lock: string, holder: string, signal: AbortSignal): Promise<void> {
  for (let wait = 1; ; wait = Math.min(wait * 2, 20)) {
    signal.throwIfAborted();
    try {
      return await symlink(holder, lock);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    if (!(await removeDead(lock))) await delay(wait, undefined, { signal });
  }
}

/**
 * Removes the lock of a dead process. Only the holder of a lock named after the dead one may do so, so it happens once.
 * That lock may itself be left by a crash, and is then taken over in the same way.
 */
async function removeDead(lock: string): Promise<boolean> {
  const holder = await readlink(lock).catch(() => undefined);
  if (holder === undefined) return true;
  if (await isAlive(lock, holder)) return false;
  const { token, path } = parse(holder);
  const right = `${lock}.${createHash('sha256').update(holder).digest('hex').slice(0, 16)}`;
  const ownToken = newToken();
  const own = await describe({ token: ownToken, path: '' });
  try {
    await symlink(own, right);
  } catch (error) {
    inUse.delete(ownToken);
    if (codeOf(error) !== 'EEXIST') throw error;
    return removeDead(right);
  }
  try {
    if ((await readlink(lock).catch(() => undefined)) !== holder) return true;
    if (path !== '') await sweepTemp(path, token);
    await unlink(lock);
    return true;
  } finally {
    await release(right, own, ownToken);
  }
}

/** Removes the locks that crashes left, for any file. Usually the directory is empty. */
async function sweep(directory: string): Promise<void> {
  for (const name of await readdir(directory)) await removeDead(join(directory, name));
}

async function describe({ token, path }: Holder): Promise<string> {
  // The target of a symlink has at most 4095 bytes; a longer path is locked too, but its temporary file is not swept.
  const place = Buffer.byteLength(path) > 3500 ? '' : path;
  return [await processIdentity(process.pid), token, place].join('|');
}

function parse(holder: string): Holder {
  const [, , , , token = '', ...path] = holder.split('|');
  return { token: /^[0-9a-f]{32}$/.test(token) ? token : 'none', path: path.join('|') };
}

/** No write takes this long: the scheduler aborts a call much earlier. */
const foreignLockMs = 600_000;

/** A process of another machine or container cannot be checked, so its lock becomes stale by age alone. */
async function isAlive(lock: string, holder: string): Promise<boolean> {
  const state = await processState(holder);
  if (state === 'unknown') {
    const made = await lstat(lock).catch(() => undefined);
    return made !== undefined && Date.now() - made.mtimeMs < foreignLockMs;
  }
  const isOwn = holder.startsWith(`${process.pid}|`);
  return state === 'running' && (!isOwn || inUse.has(parse(holder).token));
}

/** Names a process so that any other process can say later whether it still runs: `pid|start|host|boot`. */
export async function processIdentity(pid: number): Promise<string> {
  const [started, { host, boot }] = await Promise.all([startOf(pid), machine()]);
  return [pid, started, host, boot].join('|');
}

/** `unknown` for a process of another machine or container, which cannot be checked from here. */
export async function processState(identity: string): Promise<'running' | 'gone' | 'unknown'> {
  const [pid = '', started, host, boot] = identity.split('|');
  const here = await machine();
  if (host !== here.host) return 'unknown';
  if (boot !== here.boot) return 'gone';
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return 'gone';
  }
  return (await startOf(Number(pid))) === started ? 'running' : 'gone';
}

/** The start time of a process, which distinguishes it from a later one with the same id. */
async function startOf(pid: number): Promise<string> {
  if (process.platform !== 'linux') return '';
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

let thisMachine: Promise<{ host: string; boot: string }> | undefined;

/** A host is a machine or, on Linux, a process namespace on it. */
function machine(): Promise<{ host: string; boot: string }> {
  thisMachine ??= (async () => {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '');
    const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
    const host = createHash('sha256').update(`${hostname()}|${namespace}`).digest('hex').slice(0, 16);
    return { host, boot: boot.trim() };
  })();
  return thisMachine;
}
