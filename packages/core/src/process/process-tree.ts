import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { type CallMark, isAlive } from './call-mark.js';

/** How long processes may take to end by themselves after a polite signal. */
const politeMs = 100;
/** More than this is a fork bomb, which would use the time to grow. */
const maxPoliteProcesses = 200;
/** How long the kernel may take to remove killed processes before we say that it did not. */
const killMs = 2_000;
const pollMs = 5;

/** Whether marks can be read; elsewhere a call is its process group and no more. */
export const hasProc = existsSync('/proc/self/limits');

/** A command and everything it started, wherever that went. */
export class ProcessTree {
  /** The first process; it leads a session and a group of its own. */
  readonly first: number;
  readonly #mark: CallMark;

  constructor(first: number, mark: CallMark) {
    this.first = first;
    this.#mark = mark;
  }

  /** The processes alive now, besides a sandbox's own. */
  processes(): number[] {
    if (hasProc) return this.#mark.processes(this.first);
    return canSignal(-this.first) ? [this.first] : [];
  }

  /** A dead process that nobody has collected yet counts as gone. */
  isGone(): boolean {
    return hasProc ? !isAlive(this.first) && this.processes().length === 0 : !canSignal(-this.first);
  }

  /** Asks every process to end, then ends it. Returns the processes that even the kernel could not remove. */
  async end({ isPolite }: { isPolite: boolean }): Promise<number[]> {
    if (isPolite && (await this.#endPolitely())) return [];
    const deadline = performance.now() + killMs;
    do {
      this.#kill();
      if (this.isGone()) return [];
      await wait(pollMs);
    } while (performance.now() < deadline);
    return this.processes();
  }

  /** True when all of them took the hint. Only those asked are watched: a look at all processes of the machine is dear. */
  async #endPolitely(): Promise<boolean> {
    const asked = this.processes();
    if (asked.length > maxPoliteProcesses) return false;
    for (const pid of asked) send(pid, 'SIGTERM');
    // A stopped process hears nothing before it goes on.
    for (const pid of asked) send(pid, 'SIGCONT');
    const deadline = performance.now() + politeMs;
    const awaited = asked.filter(hearsTerm);
    while (performance.now() < deadline && awaited.some(isRunning)) await wait(pollMs);
    return this.isGone();
  }

  /** One step for each group: a group dies at once, so that nothing in it can fork away in between. */
  #kill(): void {
    send(-this.first, 'SIGKILL');
    const pids = this.processes();
    for (const group of new Set(pids.map(groupOf))) if (group > 1) send(-group, 'SIGKILL');
    for (const pid of pids) send(pid, 'SIGKILL');
  }
}

/** A process that ignores the polite signal is not waited for. */
function hearsTerm(pid: number): boolean {
  if (!hasProc) return true;
  try {
    const ignored = readFileSync(`/proc/${pid}/status`, 'latin1').match(/^SigIgn:\s+([0-9a-f]+)/m)?.[1] ?? '0';
    return ((BigInt(`0x${ignored}`) >> BigInt(constants.signals.SIGTERM - 1)) & 1n) === 0n;
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  return hasProc ? isAlive(pid) : canSignal(-pid);
}

function groupOf(pid: number): number {
  try {
    // The name in parentheses may contain anything; the group is the third field after it.
    return Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[2]);
  } catch {
    return 0;
  }
}

function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already, or not ours to kill: the next look at the tree tells.
  }
}
