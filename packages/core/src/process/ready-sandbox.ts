import { once } from 'node:events';
import { closeSync, readFileSync, realpathSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { CallMark } from './call-mark.js';
import type { CommandRequest, Launch, Started } from './running-command.js';

/** All of a sandboxed command but the command. */
export type SandboxPlace = Required<Pick<CommandRequest, 'cwd' | 'env' | 'wrap'>>;

/** A sandbox without a command. */
export interface WaitingSandbox extends Started {
  place: SandboxPlace;
  /** The program in it that waits, as it was given to `place.wrap`. */
  waiter: readonly string[];
  /** Where the program waits for its command. */
  channel: Socket;
}

/** Several are made in little more time than one, because most of it is spent waiting for the kernel. */
const maxSpares = 4;
/** One that takes longer to be ready is of no use. */
const patienceMs = 250;
/** So that whoever asked for the last command has its result and goes on. */
const restMs = 20;
/** What a shell takes as one argument. */
const maxCommandBytes = 100_000;

/**
 * For bash, a script that waits on the descriptor `$1` for one command and becomes the shell that runs it, as it would
 * have been started for it: with the same arguments, variables and descriptors. The end of input ends it.
 */
export const waitForCommand = (options: readonly string[]): string =>
  [
    'echo >&"$1"',
    'IFS= read -r -u "$1" LATHE_LENGTH || exit',
    // As bytes: the length counts these.
    'LC_ALL=C IFS= read -r -N "$LATHE_LENGTH" -u "$1" LATHE_COMMAND || exit',
    'eval "exec $1>&-"',
    `exec "$0" ${options.join(' ')} -c "$LATHE_COMMAND"`,
  ].join('; ');

/**
 * Starting a sandbox takes several times as long as the shell in it, most of it spent waiting for the kernel, so some are
 * started ahead, beside a sandboxed command, for the next ones. Each runs one command and no second, and only when a
 * sandbox started now would be the same: the same arguments, variables and directory, and every mount in it still what
 * and where it was.
 */
export class ReadySandboxes {
  readonly #start: (place: SandboxPlace) => Promise<WaitingSandbox>;
  readonly #waitMs: number;
  /** The oldest first. */
  readonly #spares = new Set<Promise<Spare | undefined>>();
  #rest: NodeJS.Timeout | undefined;
  /** What they are for. */
  #place: SandboxPlace | undefined;
  #isClosed = false;

  constructor(start: (place: SandboxPlace) => Promise<WaitingSandbox>, waitMs: number) {
    this.#start = start;
    this.#waitMs = waitMs;
  }

  /** Starts sandboxes like that of this command, which begins, when none is left. */
  prepare(request: CommandRequest): void {
    if (this.#spares.size === 0) void this.#fill(request);
  }

  /** After a pause, starts sandboxes like that of this command, which is over. */
  prepareLater(request: CommandRequest): void {
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => void this.#fill(request), restMs);
    this.#rest.unref();
  }

  /** A process that runs the command already; `undefined` when one has to be started. */
  async take(request: CommandRequest): Promise<Started | undefined> {
    const { wrap, takesInput, hasTerminal, isKept } = request;
    if (wrap === undefined || takesInput || hasTerminal || isKept) return undefined;
    clearTimeout(this.#rest);
    for (const spare of this.#spares) {
      this.#spares.delete(spare);
      const started = await (await spare)?.become(request, wrap);
      if (started !== undefined) return started;
    }
    return undefined;
  }

  /** Settles when no sandbox waits any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#rest);
    const spares = [...this.#spares];
    this.#spares.clear();
    await Promise.all(spares.map(async (spare) => (await spare)?.end()));
  }

  async #fill({ cwd, env, wrap }: CommandRequest): Promise<void> {
    if (wrap === undefined) return;
    const place = { cwd, env, wrap };
    this.#place = place;
    while (!this.#isClosed && this.#place === place && this.#spares.size < maxSpares) {
      this.#add(place);
      // Starting a process holds up everything else for a moment.
      await nextTurn();
    }
  }

  #add(place: SandboxPlace): void {
    const spare = this.#start(place).then(
      (sandbox) => {
        void sandbox.exited.then(() => this.#spares.delete(spare));
        return new Spare(sandbox, this.#waitMs);
      },
      () => undefined,
    );
    this.#spares.add(spare);
  }
}

/** One sandbox until it has its command or is ended. */
class Spare {
  static readonly #all = new Set<Spare>();
  static readonly #endAll = () => {
    for (const spare of Spare.#all) spare.#kill();
  };

  /** Settles when the program in it waits, with false when it never will. */
  readonly #isReady: Promise<boolean>;
  readonly #sandbox: WaitingSandbox;
  readonly #idle: NodeJS.Timeout;
  #mounts: string | undefined;
  #isOver = false;

  constructor(sandbox: WaitingSandbox, waitMs: number) {
    this.#sandbox = sandbox;
    this.#idle = setTimeout(() => void this.end(), waitMs);
    this.#idle.unref();
    if (Spare.#all.size === 0) process.once('exit', Spare.#endAll);
    Spare.#all.add(this);
    sandbox.channel.on('error', () => undefined);
    void sandbox.exited.then(() => this.#giveUp());
    this.#isReady = this.#getReady();
  }

  async #getReady(): Promise<boolean> {
    const { channel, process: child, pid, exited, launch } = this.#sandbox;
    await Promise.race([once(channel, 'data').catch(() => exited), exited]);
    this.#mounts = mountsOf(pid);
    // Something that it covers may have been moved or replaced while it was made.
    if (this.#isOver || !hasMounts(this.#mounts, launch)) {
      void this.end();
      return false;
    }
    // From here on it must not keep a Lathe alive that has nothing else to do.
    channel.unref();
    child.unref();
    return true;
  }

  /** Never tried twice: what does not fit, or takes too long, is ended. */
  async become(request: CommandRequest, wrap: SandboxPlace['wrap']): Promise<Started | undefined> {
    const { launch, channel, mark, process: child } = this.#sandbox;
    const isReady = await Promise.race([this.#isReady, wait(patienceMs, false, { ref: false })]);
    const fresh = isReady ? this.#launchLike(request, wrap) : undefined;
    if (fresh === undefined) {
      void this.end();
      return undefined;
    }
    this.#settle();
    child.ref();
    channel.end(`${Buffer.byteLength(request.command)}\n${request.command}`);
    launch.release?.({ hasRun: false });
    // It counts from here: what was before only waited.
    return { ...this.#sandbox, launch: fresh, mark: new CallMark(mark.value, { isLimit: mark.isLimit }) };
  }

  /** What would be started now, if it is the same. */
  #launchLike({ command, cwd, env }: CommandRequest, wrap: SandboxPlace['wrap']): Launch | undefined {
    const { place, waiter, launch, pid } = this.#sandbox;
    const isPlain = Buffer.byteLength(command) <= maxCommandBytes && !command.includes('\0');
    if (this.#isOver || !isPlain || cwd !== place.cwd || !isDeepStrictEqual(env, place.env)) return undefined;
    try {
      const { descriptors = [], ...fresh } = wrap(waiter);
      for (const descriptor of descriptors) closeSync(descriptor);
      if (isDeepStrictEqual(fresh.argv, launch.argv) && mountsOf(pid) === this.#mounts) return fresh;
      fresh.release?.({ hasRun: false });
    } catch {
      // Whoever starts one anew is told.
    }
    return undefined;
  }

  async end(): Promise<void> {
    this.#kill();
    await this.#sandbox.exited;
  }

  #kill(): void {
    if (this.#isOver) return;
    const { pid, process: child } = this.#sandbox;
    child.ref();
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It is gone already.
    }
    this.#giveUp();
  }

  #giveUp(): void {
    if (this.#isOver) return;
    this.#settle();
    const { pipe, launch, channel } = this.#sandbox;
    channel.destroy();
    pipe.release({ isFree: false });
    launch.release?.({ hasRun: false });
  }

  #settle(): void {
    this.#isOver = true;
    clearTimeout(this.#idle);
    Spare.#all.delete(this);
    if (Spare.#all.size === 0) process.removeListener('exit', Spare.#endAll);
  }
}

/**
 * The mounts as the first process inside sees them. A mount is gone, moved or marked as deleted here as soon as
 * somebody outside removes or renames what it is on or what it shows.
 */
function mountsOf(pid: number): string | undefined {
  try {
    const inside = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return readFileSync(`/proc/${inside}/mountinfo`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Whether everything is where it was planned, also where a path leads through a link. */
function hasMounts(mounts: string | undefined, { mountPoints = [] }: Launch): boolean {
  const lines = mounts?.split('\n') ?? [];
  const found = new Set(lines.map((line) => unescaped(line.split(' ')[4] ?? '')));
  try {
    return mountPoints.every((path) => found.has(path) || found.has(realpathSync(path)));
  } catch {
    return false;
  }
}

/** Blanks and line breaks in a name are written as octal numbers there. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
