import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf } from '../../files/fs-error.js';

/** How long processes may take to exit after SIGTERM. */
const termMs = 100;
/** More than this is treated as a fork bomb, which would use the time to grow. */
const maxTermProcesses = 200;
/** How long the kernel may take to remove killed processes before they are reported as survivors. */
const killMs = 2_000;
const pollMs = 5;

/** Whether marks can be read. Without /proc, the processes of a call are those of its process group. */
export const hasProc = existsSync('/proc/self/limits');

/** A command and all its descendants, also those in other sessions. */
export class ProcessTree {
  /** The first process, which leads its own session and process group. */
  readonly first: number;
  readonly #mark: CallMark;

  constructor(first: number, mark: CallMark) {
    this.first = first;
    this.#mark = mark;
  }

  /** The living processes, without those of the sandbox program. */
  processes(): number[] {
    if (hasProc) return this.#mark.processes(this.first);
    return canSignal(-this.first) ? [this.first] : [];
  }

  /** A zombie counts as gone. */
  isGone(): boolean {
    return hasProc ? !isAlive(this.first) && this.processes().length === 0 : !canSignal(-this.first);
  }

  /** Sends SIGTERM if `isPolite`, then SIGKILL. Returns the processes that the kernel could not remove. */
  async end({ isPolite }: { isPolite: boolean }): Promise<number[]> {
    if (isPolite && (await this.#terminate())) return [];
    const deadline = performance.now() + killMs;
    do {
      this.#kill();
      if (this.isGone()) return [];
      await wait(pollMs);
    } while (performance.now() < deadline);
    return this.processes();
  }

  /** Sends SIGTERM. True if all processes exited. Checks only those processes: a scan of all processes is expensive. */
  async #terminate(): Promise<boolean> {
    const pids = this.processes();
    if (pids.length > maxTermProcesses) return false;
    for (const pid of pids) sendSignal(pid, 'SIGTERM');
    // A stopped process handles SIGTERM only after it continues.
    for (const pid of pids) sendSignal(pid, 'SIGCONT');
    const deadline = performance.now() + termMs;
    const awaited = pids.filter(handlesTerm);
    while (performance.now() < deadline && awaited.some((pid) => (hasProc ? isAlive(pid) : canSignal(-pid))))
      await wait(pollMs);
    return this.isGone();
  }

  /** Kills whole groups: a group dies in one step, so no process in it can fork away in between. */
  #kill(): void {
    sendSignal(-this.first, 'SIGKILL');
    const pids = this.processes();
    for (const group of new Set(pids.map(groupOf))) if (group > 1) sendSignal(-group, 'SIGKILL');
    for (const pid of pids) sendSignal(pid, 'SIGKILL');
  }
}

/** A process that ignores SIGTERM is not waited for. */
function handlesTerm(pid: number): boolean {
  if (!hasProc) return true;
  const status = readProc(`/proc/${pid}/status`);
  const ignored = status?.match(/^SigIgn:\s+([0-9a-f]+)/m)?.[1] ?? '0';
  const isIgnored = ((BigInt(`0x${ignored}`) >> BigInt(constants.signals.SIGTERM - 1)) & 1n) === 1n;
  return status !== undefined && !isIgnored;
}

function groupOf(pid: number): number {
  // The name in parentheses may contain anything; the group is the third field after it.
  return Number(readProc(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ')[2] ?? 0);
}

function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** A negative `pid` means a process group. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone, or we may not signal it; the next scan tells.
  }
}

/**
 * Identifies the processes of one call: a number in their hard limit of real-time CPU time (`RLIMIT_RTTIME`, in
 * microseconds; the value is years long and so has no effect). Children inherit it through fork and exec. A new session,
 * a double fork or an empty environment does not remove it, and only root can raise it again. The same number is in the
 * environment, for shells that cannot set the limit and for a Lathe that runs inside a command of another Lathe.
 */
export class CallMark {
  readonly value: number;
  /** False if the mark is only in the environment. */
  readonly isLimit: boolean;
  readonly #startedAt: number;

  constructor(value: number, { isLimit, startedAt = performance.now() }: { isLimit: boolean; startedAt?: number }) {
    this.value = value;
    this.isLimit = isLimit;
    this.#startedAt = startedAt;
  }

  get variables(): Record<string, string> {
    const outer = process.env[variable];
    return { [variable]: outer === undefined ? `${this.value}` : `${outer}:${this.value}` };
  }

  /** The living processes that carry the mark. `first` is the process that was started with it. */
  processes(first: number): number[] {
    let newest = newestProcess();
    let found = this.#among(this.#candidates(first, newest));
    // A process may have started a child and exited before it was checked, so check what was started since.
    for (let scan = 0; found.length === 0 && scan < maxScans; scan++) {
      const last = newest;
      newest = newestProcess();
      if (Object.is(newest, last)) break;
      found = this.#among(newest > last ? range(last + 1, newest) : allProcesses());
    }
    return found;
  }

  #among(pids: readonly number[]): number[] {
    return pids.filter((pid) => this.#isOn(pid) && isAlive(pid));
  }

  #isOn(pid: number): boolean {
    const limit = readProc(`/proc/${pid}/limits`)?.match(/^Max realtime timeout +\S+ +(\S+)/m)?.[1];
    if (limit === undefined) return false;
    if (this.isLimit && (limit === `${this.value}` || limit === 'unlimited')) return limit !== 'unlimited';
    const variables = readProc(`/proc/${pid}/environ`)?.split('\0');
    const marks = variables?.find((entry) => entry.startsWith(`${variable}=`))?.slice(variable.length + 1);
    return marks?.split(':').includes(`${this.value}`) ?? false;
  }

  /**
   * Process ids grow until they wrap around, so right after a short command only the newest few can belong to it. With
   * 90 processes on the machine this saves 1.2 of 3.9 ms: `npm run bench -- --no-peers --only 'shell: run echo'`.
   */
  #candidates(first: number, newest: number): number[] {
    const isRecent = performance.now() - this.#startedAt < 1_000 && newest >= first;
    if (isRecent && newest - first < 64) return range(first, newest);
    return isRecent ? allProcesses().filter((pid) => pid >= first) : allProcesses();
  }
}

/** Bounds the search on a machine that starts processes faster than they are checked. */
const maxScans = 20;

/** `NaN` where there is no /proc. */
function newestProcess(): number {
  return Number(readProc('/proc/loadavg')?.trim().split(' ').at(-1));
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function allProcesses(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
}

/** Creates marks that share their upper bits, so that the guardian finds the processes of all of them. */
export class MarkSeries {
  readonly id: number;
  /** What sets the limit: `ulimit` for the shell builtin, the path of `prlimit`, or `undefined`. */
  limitSetter: string | undefined;
  readonly #keptId: number;
  #count = 0;

  constructor() {
    // Inside a command of another Lathe the limit can only be lowered further.
    const own = Number(readProc('/proc/self/limits')?.match(/^Max realtime timeout +\S+ +(\d+)/m)?.[1] ?? Number.NaN);
    const ceiling = Number.isNaN(own) ? 2 ** 30 : Math.floor(own / marksPerSeries);
    this.id = randomInt(Math.floor(ceiling / 2), ceiling);
    this.#keptId = randomInt(Math.floor(this.id / 2), this.id);
  }

  /** Kept commands get marks outside the series, so the guardian does not kill them. */
  next({ isKept = false } = {}): CallMark {
    this.#count = (this.#count + 1) % marksPerSeries;
    const id = isKept ? this.#keptId : this.id;
    return new CallMark(id * marksPerSeries + this.#count, { isLimit: this.limitSetter !== undefined });
  }
}

export const marksPerSeries = 2 ** 22;
const variable = 'LATHE_CALL';

/** A zombie counts as dead. */
export function isAlive(pid: number): boolean {
  const state = readProc(`/proc/${pid}/stat`)?.match(/\) (\S)[^)]*$/)?.[1];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** Reads a file in /proc; `undefined` if the process is gone. */
export function readProc(path: string): string | undefined {
  try {
    // With any other encoding Node allocates 64 KB for each of these small files, and there may be thousands.
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
