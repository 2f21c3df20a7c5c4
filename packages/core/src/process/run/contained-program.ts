import { type ChildProcess, type IOType, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { ToolError } from '../../contract/errors.js';
import { type CallMark, ProcessTree, sendSignal } from './process-tree.js';
import { resolveProgram } from './trusted-path.js';

/** A program and its arguments, passed on as they are: no splitting, no expansion, no shell. */
export interface ProgramRequest {
  argv: readonly string[];
  /** An absolute, existing directory. */
  cwd: string;
  /** All variables of the program; see `childEnvironment`. */
  env: Readonly<Record<string, string>>;
  /** Wraps the program and its arguments in a sandbox. */
  wrap?: (argv: readonly string[]) => Launch;
  /** What each of its processes may use; no limits when left out. */
  limits?: ResourceLimits;
}

export interface Launch {
  argv: readonly string[];
  /** Open files that become fd 3, 4 … of the program; closed here once it has started. */
  descriptors?: readonly number[];
  /** Calls back, at most once, when the sandbox no longer protects the file it names: the program must end at once. */
  watch?: (onLost: (path: string) => void) => void;
  /** False if the sandbox could not be set up, so that nothing ran. Call it after an exit, before `release`. */
  hasStarted?: () => boolean;
  /**
   * Call it when the program and all its children are gone, or when the program could not be started. Returns sentences
   * about what the program left behind that it was not allowed to.
   */
  release?: () => Promise<readonly string[]>;
  /** Empty directories that `release` removes, in this order. */
  placeholders?: readonly string[];
}

export type ProgramExit = { type: 'exit'; code: number } | { type: 'signal'; signal: NodeJS.Signals };

/** A running program, contained like a command but with its own streams. */
export interface ContainedProgram {
  pid: number;
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** Settles when the first process exits; its children may live on until `end`. */
  exited: Promise<ProgramExit>;
  /** Kills the program and all its descendants. Returns the processes that could not be killed. */
  end(): Promise<number[]>;
  /** Lets Lathe exit although the program still runs. */
  unref(): void;
}

/** Checked before the start: the shell that marks the program would report it too late and with its own message. */
export async function checkProgram({ argv: [name = ''], cwd, env }: ProgramRequest): Promise<void> {
  if (!(await stat(cwd).catch(() => undefined))?.isDirectory())
    throw new ToolError('execution_failed', `${name} could not be started: the directory ${cwd} does not exist.`);
  const { file } = await resolveProgram(name, { cwd, path: env['PATH'] ?? '', workspaceRoots: [] });
  if (file !== undefined) return;
  const where = name.includes('/') ? 'is not an executable file' : 'is not on PATH';
  throw new ToolError('execution_failed', `${name} could not be started: it ${where}.`);
}

/** Starts the program of `launch`, whose arguments already set the mark; throws a `ToolError` if that fails. */
export async function startContained(
  { cwd, env }: Pick<ProgramRequest, 'cwd' | 'env'>,
  launch: Launch,
  mark: CallMark,
): Promise<ContainedProgram> {
  const { argv, release } = launch;
  const child = spawnLaunch(launch, { cwd, env, mark }, ['pipe', 'pipe', 'pipe']);
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdin === null || stdout === null || stderr === null) {
    const cause = await new Promise<Error>((resolve) => child.once('error', resolve));
    await release?.();
    throw new ToolError('execution_failed', `${argv[0]} could not be started in ${cwd}: ${cause.message}`, { cause });
  }
  // If the program no longer reads its stdin, the input is lost; that is not an error.
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
  const tree = new ProcessTree(pid, mark);
  const exited = exitOf(child);
  launch.watch?.(() => sendSignal(-pid, 'SIGKILL'));
  return {
    pid,
    stdin,
    stdout,
    stderr,
    exited,
    end: async () => {
      const survivors = await endGroup(tree, exited);
      await release?.();
      return survivors;
    },
    unref: () => unrefChild(child),
  };
}

/** Starts the program of `launch` and closes the descriptors that it inherits. */
export function spawnLaunch(
  { argv: [program = '', ...args], descriptors = [] }: Launch,
  { cwd, env, mark }: Pick<ProgramRequest, 'cwd' | 'env'> & { mark: CallMark },
  streams: readonly (IOType | number)[],
): ChildProcess {
  try {
    return spawn(program, args, {
      cwd,
      env: { ...env, ...mark.variables },
      // Its own session: no access to our terminal, and one process group to signal.
      detached: true,
      stdio: [...streams, ...descriptors],
    });
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

/** How long a program may take to exit after SIGTERM. */
const termMs = 100;

/**
 * Ends the group and waits for its exit, then looks once for whatever left the group. Looking at all processes of the
 * machine until none is left takes 1,160 instead of 320 ms for a hundred programs:
 * `npm run bench -- --no-peers --only 'shell: end 100 programs'`.
 */
async function endGroup(tree: ProcessTree, exited: Promise<ProgramExit>): Promise<number[]> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    sendSignal(-tree.first, signal);
    const pause = new AbortController();
    const timeout = wait(termMs, 'late', { signal: pause.signal }).catch(() => 'over');
    const what = await Promise.race([exited, timeout]);
    pause.abort();
    if (what !== 'late') break;
  }
  return tree.isGone() ? [] : tree.end({ isPolite: false });
}

/** Settles when the first process exits. */
export function exitOf(child: ChildProcess): Promise<ProgramExit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal === null ? { type: 'exit', code: code ?? 0 } : { type: 'signal', signal });
    });
  });
}

/** Lets Lathe exit although the child still runs. */
export function unrefChild(child: ChildProcess): void {
  child.unref();
  // Pipes to a child are sockets, which their declared type leaves out.
  for (const stream of [child.stdin, child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
}

/** What one sandboxed command may use; −1 for no limit. */
export interface ResourceLimits {
  /** Processes and threads of the sandbox. The kernel does not hold root to it. */
  processes: number;
  /** Memory of one process. */
  memoryMb: number;
  /** Size of one file. */
  fileMb: number;
}

/** Memory has no limit unless it is set: sanitizers and race detectors reserve terabytes that they never use. */
export const usualLimits: ResourceLimits = { processes: 4096, memoryMb: -1, fileMb: 16_384 };

/**
 * Shell text that sets the limits, which whatever the shell starts inherits. When the machine runs out of memory, the
 * kernel ends the command before it ends anything else.
 */
export function setLimits({ processes, memoryMb, fileMb }: ResourceLimits): string {
  const limits = [
    // Inside a sandbox only the sandbox's own processes count.
    processes >= 0 && `ulimit -u ${processes}`,
    // Not the address space, of which Node and Java reserve much more than they use.
    memoryMb >= 0 && `ulimit -d ${memoryMb * 1024}`,
    fileMb >= 0 && `ulimit -f ${fileMb * blocksPerMb}`,
    'echo 1000 >/proc/self/oom_score_adj',
  ];
  return `{ ${limits.filter((limit) => limit !== false).join('; ')}; } 2>/dev/null; `;
}

/** Bash counts blocks of 1,024 bytes; dash, blocks of 512. */
const blocksPerMb = 1024;
