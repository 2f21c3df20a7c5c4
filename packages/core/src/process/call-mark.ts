import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/**
 * How the processes of one call are recognised, wherever they go: by a number in their hard limit of real-time CPU time
 * (`RLIMIT_RTTIME`, in microseconds, years long and so without effect). Children inherit it through fork and exec; a new
 * session, a double fork or an empty environment does not shed it, and only root can raise it again. The same number
 * stands in the environment, for shells that cannot set the limit and for a Lathe that runs inside another's command.
 */
export class CallMark {
  readonly value: number;
  /** Elsewhere it stands in the environment alone. */
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
    // One that had a child and ended before it was looked at is followed to what was started meanwhile.
    for (let look = 0; found.length === 0 && look < maxLooks; look++) {
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
    const limit = read(`/proc/${pid}/limits`)?.match(/^Max realtime timeout +\S+ +(\S+)/m)?.[1];
    if (limit === undefined) return false;
    if (this.isLimit && (limit === `${this.value}` || limit === 'unlimited')) return limit !== 'unlimited';
    const entry = read(`/proc/${pid}/environ`)
      ?.split('\0')
      .find((candidate) => candidate.startsWith(`${variable}=`));
    return (
      entry !== undefined &&
      entry
        .slice(variable.length + 1)
        .split(':')
        .includes(`${this.value}`)
    );
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

/** A machine that starts processes faster than they are looked at keeps nobody waiting. */
const maxLooks = 20;

/** `NaN` where there is no /proc. */
function newestProcess(): number {
  return Number(read('/proc/loadavg')?.trim().split(' ').at(-1));
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function allProcesses(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
}

/** Hands out marks that share their upper bits, so that a helper finds the processes of all of them. */
export class MarkSeries {
  readonly id: number;
  /** What sets the limit: the shell's own `ulimit`, the path of `prlimit`, or nothing. */
  limitSetter: string | undefined;
  readonly #keptId: number;
  #count = 0;

  constructor() {
    // Inside a command of another Lathe the limit can only be lowered further.
    const own = Number(read('/proc/self/limits')?.match(/^Max realtime timeout +\S+ +(\d+)/m)?.[1] ?? Number.NaN);
    const ceiling = Number.isNaN(own) ? 2 ** 30 : Math.floor(own / marksPerSeries);
    this.id = randomInt(Math.floor(ceiling / 2), ceiling);
    this.#keptId = randomInt(Math.floor(this.id / 2), this.id);
  }

  /** What is kept is marked outside the series, where the helper does not look. */
  next({ isKept = false } = {}): CallMark {
    this.#count = (this.#count + 1) % marksPerSeries;
    const id = isKept ? this.#keptId : this.id;
    return new CallMark(id * marksPerSeries + this.#count, { isLimit: this.limitSetter !== undefined });
  }
}

export const marksPerSeries = 2 ** 22;
const variable = 'LATHE_CALL';

/** A zombie is dead: it only waits for its parent to take note. */
export function isAlive(pid: number): boolean {
  const state = read(`/proc/${pid}/stat`)?.match(/\) (\S)[^)]*$/)?.[1];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

function read(path: string): string | undefined {
  try {
    // For any other encoding Node takes 64 KB for each of these small files, and there may be thousands of them.
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
