import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { type CallMark, isAlive, readProc } from './call-mark.js';

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
    while (performance.now() < deadline && awaited.some(isRunning)) await wait(pollMs);
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

function isRunning(pid: number): boolean {
  return hasProc ? isAlive(pid) : canSignal(-pid);
}

function groupOf(pid: number): number {
  // The name in parentheses may contain anything; the group is the third field after it.
  return Number(readProc(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ')[2] ?? 0);
}

function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
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
