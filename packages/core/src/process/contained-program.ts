import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { ToolError } from '../errors.js';
import type { CallMark } from './call-mark.js';
import { ProcessTree } from './process-tree.js';
import { resolveProgram } from './resolve-program.js';
import type { Launch } from './running-command.js';

/** A program and its arguments as they are: nothing is split, expanded or searched for special characters. */
export interface ProgramRequest {
  argv: readonly string[];
  /** An absolute, existing directory. */
  cwd: string;
  /** All variables of the program; see `childEnvironment`. */
  env: Readonly<Record<string, string>>;
  /** Puts a sandbox around the program and its arguments. */
  wrap?: (argv: readonly string[]) => Launch;
}

export type ProgramExit = { type: 'exit'; code: number } | { type: 'signal'; signal: NodeJS.Signals };

/** A program at work, contained like a command but with streams of its own. */
export interface ContainedProgram {
  pid: number;
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** Settles when the first process is over; what it started may live on until `end`. */
  exited: Promise<ProgramExit>;
  /** Ends the program and everything it started, wherever that went. Returns what could not be ended. */
  end(): Promise<number[]>;
  /** Lets Lathe exit although the program still runs. */
  unref(): void;
}

/** The shell that marks the program would say it in its own words, and too late. */
export async function checkProgram({ argv: [name = ''], cwd, env }: ProgramRequest): Promise<void> {
  if (!(await stat(cwd).catch(() => undefined))?.isDirectory())
    throw new ToolError('execution_failed', `${name} could not be started: the directory ${cwd} does not exist.`);
  const { file } = await resolveProgram(name, { cwd, path: env['PATH'] ?? '', workspaceRoots: [] });
  if (file !== undefined) return;
  const where = name.includes('/') ? 'is not an executable file' : 'is not on PATH';
  throw new ToolError('execution_failed', `${name} could not be started: it ${where}.`);
}

/** Starts what `launch` says, which must carry the mark already; throws a `ToolError` when there is no such program. */
export async function startContained(
  { cwd, env }: Pick<ProgramRequest, 'cwd' | 'env'>,
  launch: Launch,
  mark: CallMark,
): Promise<ContainedProgram> {
  const { descriptors = [], release } = launch;
  const [program = '', ...args] = launch.argv;
  const child = spawn(program, args, {
    cwd,
    env: { ...env, ...mark.variables },
    // A session of its own: no terminal to read keys from, and one group to signal.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...descriptors],
  });
  for (const descriptor of descriptors) closeSync(descriptor);
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdin === null || stdout === null || stderr === null) {
    const cause = await new Promise<Error>((resolve) => child.once('error', resolve));
    release?.();
    throw new ToolError('execution_failed', `${program} could not be started in ${cwd}: ${cause.message}`, { cause });
  }
  // Input for a program that no longer reads is lost, not an error of ours.
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
  const tree = new ProcessTree(pid, mark);
  const exited = exitOf(child);
  return {
    pid,
    stdin,
    stdout,
    stderr,
    exited,
    end: () => endGroup(tree, exited).finally(() => release?.()),
    unref: () => unref(child),
  };
}

/** How long a program may take to end by itself after a polite signal. */
const politeMs = 100;

/**
 * Ends the group and waits for its exit, then looks once for whatever left the group. Looking at all processes of the
 * machine until none is left takes 1,160 instead of 320 ms for a hundred programs:
 * `npm run bench -- --no-peers --only 'shell: end 100 programs'`.
 */
async function endGroup(tree: ProcessTree, exited: Promise<ProgramExit>): Promise<number[]> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    signalGroup(tree.first, signal);
    const pause = new AbortController();
    const timeout = wait(politeMs, 'late', { signal: pause.signal }).catch(() => 'over');
    const what = await Promise.race([exited, timeout]);
    pause.abort();
    if (what !== 'late') break;
  }
  return tree.isGone() ? [] : tree.end({ isPolite: false });
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // Gone already: the look at the end tells.
  }
}

function exitOf(child: ChildProcess): Promise<ProgramExit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal === null ? { type: 'exit', code: code ?? 0 } : { type: 'signal', signal });
    });
  });
}

function unref(child: ChildProcess): void {
  child.unref();
  // Pipes to a child are sockets, which their declared type leaves out.
  for (const stream of [child.stdin, child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
}
