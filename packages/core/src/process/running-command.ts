import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { closeSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setImmediate as immediate, setTimeout as wait } from 'node:timers/promises';
import { ToolError } from '../errors.js';
import type { CallMark } from './call-mark.js';
import type { CapturedOutput } from './captured-output.js';
import type { OutputPipe } from './output-pipe.js';
import { ProcessTree } from './process-tree.js';

export interface CommandRequest {
  command: string;
  /** An absolute, existing directory. */
  cwd: string;
  /** All variables of the command; see `childEnvironment`. */
  env: Readonly<Record<string, string>>;
  /** Puts a sandbox around the program and its arguments. */
  wrap?: (argv: readonly string[]) => Launch;
  /** Keeps stdin open for input instead of closing it. */
  takesInput?: boolean;
  /** Gives the command a terminal of its own, for programs that insist on one. */
  hasTerminal?: boolean;
  /** Writes all output to a file from the first byte on. */
  isFollowed?: boolean;
  /** Lets it outlive Lathe; needs `isFollowed`. What it prints goes to the file alone. */
  isKept?: boolean;
  /** Called after each piece of output. */
  onOutput?: (output: CapturedOutput) => void;
}

export interface Launch {
  argv: readonly string[];
  /** Open files to hand over as fd 3, 4 …; closed once the program has started. */
  descriptors?: readonly number[];
  /** To be called after the program and everything it started are gone, or when it was never started. */
  release?: () => void;
  /** Empty directories that `release` removes. */
  placeholders?: readonly string[];
}

/** Why a command is over. */
export type Ending =
  | { type: 'exit'; code: number }
  | { type: 'signal'; signal: NodeJS.Signals }
  | { type: 'timeout'; ms: number }
  | { type: 'abort' };

export interface CommandResult {
  ending: Ending;
  /** Also the process group. */
  pid: number;
  output: CapturedOutput;
  /** Processes that were still running when the command was over, and were ended then. */
  leftBehind: number[];
  /** Processes that could not be ended. */
  survivors: number[];
}

/** A command at work. */
export interface RunningCommand {
  pid: number;
  mark: CallMark;
  output: CapturedOutput;
  /** stdin, when the request asked for it. */
  input: Writable | null;
  /** Settles when nothing of the command is left. Never rejects. */
  result: Promise<CommandResult>;
  /** Ends the command and everything it started. */
  stop(ending: Ending): void;
  /** Lets Lathe exit although the command still runs. */
  unref(): void;
}

/** A background process that holds the output open gets this long to say its last words. */
const maxDrainMs = 2_000;
const idleDrainMs = 500;
const maxDrainedProcesses = 200;
const drainStepMs = 50;

interface CommandParts {
  launch: Launch;
  pipe: OutputPipe;
  mark: CallMark;
  output: CapturedOutput;
}

/** Starts what `launch` says; throws a `ToolError` when that is not possible. */
export async function startCommand(request: CommandRequest, parts: CommandParts): Promise<RunningCommand> {
  const { launch, pipe, mark } = parts;
  const [program = '', ...args] = launch.argv;
  try {
    const child = spawn(program, args, {
      cwd: request.cwd,
      env: { ...request.env, ...mark.variables },
      // A session of its own: no terminal to read keys from or to write tricks to, and one group to signal.
      detached: true,
      stdio: [request.takesInput ? 'pipe' : 'ignore', pipe.writer, pipe.writer, ...(launch.descriptors ?? [])],
    });
    if (child.pid === undefined) throw await new Promise<Error>((resolve) => child.once('error', resolve));
    // Input for a program that no longer reads is lost, not an error of ours.
    child.stdin?.on('error', () => undefined);
    return attend(child, child.pid, { ...parts, onOutput: request.onOutput });
  } catch (error) {
    pipe.release({ isFree: true });
    launch.release?.();
    throw startFailure(program, request.cwd, error);
  } finally {
    pipe.closeWriter();
    for (const descriptor of launch.descriptors ?? []) closeSync(descriptor);
  }
}

/** Reads the output of the process, and ends all that it started when it is over. */
function attend(
  child: ChildProcess,
  pid: number,
  { launch, pipe, mark, output, onOutput }: CommandParts & { onOutput: CommandRequest['onOutput'] },
): RunningCommand {
  const tree = new ProcessTree(pid, mark);
  const reader = pipe.read((chunk) => {
    output.push(chunk);
    onOutput?.(output);
  });
  const reading = watch(reader, output);
  const orders = new EventEmitter();
  const stopped = new Promise<Ending>((resolve) => orders.once('stop', resolve));
  const result = settle({ exited: exitOf(child), stopped, tree, reading, output }).finally(() => {
    launch.release?.();
    pipe.release({ isFree: reading.isDone() });
  });
  const stop = (ending: Ending) => {
    // Whoever stops it waits for its end, so that Lathe must not exit before.
    reader.ref();
    orders.emit('stop', ending);
  };
  const unref = () => {
    child.unref();
    reader.unref();
    if (child.stdin instanceof Socket) child.stdin.unref();
  };
  return { pid, mark, output, input: child.stdin, result, stop, unref };
}

function exitOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal === null ? { type: 'exit', code: code ?? 0 } : { type: 'signal', signal });
    });
  });
}

/** Node reports a missing directory and a missing program with the same words. */
function startFailure(program: string, cwd: string, cause: unknown): ToolError {
  const isDirectory = statSync(cwd, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const problem = isDirectory ? `${program}: ${reason}` : `the directory ${cwd} does not exist (any more)`;
  return new ToolError('shell_execute_error', `The command could not be started: ${problem}`, { cause });
}

interface Reading {
  isDone(): boolean;
  /** Waits for the end of output: at most `maxMs`, and no longer than `idleMs` without a byte. */
  drain(maxMs: number, idleMs: number): Promise<void>;
}

function watch(reader: Socket, output: CapturedOutput): Reading {
  const done = once(reader, 'close');
  reader.on('error', () => reader.destroy());
  const drain = async (maxMs: number, idleMs: number) => {
    const deadline = performance.now() + maxMs;
    let idle = 0;
    while (!reader.closed && idle < idleMs && performance.now() < deadline) {
      const seen = output.totalBytes;
      const isOver = await Promise.race([done, pause(drainStepMs)]);
      if (isOver !== 'pause') return;
      // A busy process runs late timers before it looks at its pipes: let it look first.
      await immediate();
      idle = seen === output.totalBytes ? idle + drainStepMs : 0;
    }
  };
  return { isDone: () => reader.closed, drain };
}

async function pause(ms: number): Promise<'pause'> {
  await wait(ms, undefined, { ref: false });
  return 'pause';
}

interface Settling {
  exited: Promise<Ending>;
  stopped: Promise<Ending>;
  tree: ProcessTree;
  reading: Reading;
  output: CapturedOutput;
}

/** From the end of the first process, or the order to stop, to the moment when nothing is left. */
async function settle({ exited, stopped, tree, reading, output }: Settling): Promise<CommandResult> {
  const first = await Promise.race([exited, stopped]);
  const isStopped = first.type === 'timeout' || first.type === 'abort';
  // Somebody who no longer wants to wait may also stop the draining; a fork bomb gets no time at all.
  const isPatient = !isStopped && (reading.isDone() || tree.processes().length < maxDrainedProcesses);
  if (isPatient) await Promise.race([reading.drain(maxDrainMs, idleDrainMs), stopped]);
  const leftBehind = isStopped ? [] : tree.processes();
  const isEmpty = !isStopped && leftBehind.length === 0;
  const survivors = isEmpty ? [] : await tree.end({ isPolite: true });
  // Nobody is left to hold the pipe, so its end is near.
  if (survivors.length === 0) await reading.drain(maxDrainMs, maxDrainMs);
  output.close();
  return { ending: first, pid: tree.first, output, leftBehind, survivors };
}
