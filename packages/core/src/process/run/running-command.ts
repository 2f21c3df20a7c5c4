import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { statSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setImmediate as immediate, setTimeout as wait } from 'node:timers/promises';
import { ToolError, thrownText } from '../../contract/errors.js';
import type { CapturedOutput } from './captured-output.js';
import {
  exitOf,
  type Launch,
  type ProgramExit,
  type ProgramRequest,
  spawnLaunch,
  unrefChild,
} from './contained-program.js';
import type { OutputPipe } from './guardian.js';
import { type CallMark, ProcessTree, sendSignal } from './process-tree.js';

export interface CommandRequest extends Omit<ProgramRequest, 'argv'> {
  command: string;
  /** Keeps stdin open for input instead of closing it. */
  takesInput?: boolean;
  /** Gives the command its own terminal, for programs that need one. */
  hasTerminal?: boolean;
  /** Writes all output to a file, starting with the first byte. */
  isFollowed?: boolean;
  /** Lets the command outlive Lathe; needs `isFollowed`. Its output goes only to the file. */
  isKept?: boolean;
  /** Called after each piece of output. */
  onOutput?: (output: CapturedOutput) => void;
}

/** How a command ended. */
export type Ending =
  | ProgramExit
  | { type: 'timeout'; ms: number }
  | { type: 'abort' }
  /** The sandbox no longer protected this file from the command. */
  | { type: 'unprotected'; path: string };

export interface CommandResult {
  ending: Ending;
  /** Also the id of the process group. */
  pid: number;
  output: CapturedOutput;
  /** Processes that were still running when the command exited, and were killed. */
  leftBehind: number[];
  /** Processes that could not be killed. */
  survivors: number[];
  /** Sentences about what the command left behind that it was not allowed to. */
  findings: readonly string[];
  /** The sandbox could not be set up, so that nothing ran. */
  isUnstarted: boolean;
}

/** A command that is running. */
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

/** How long to wait for more output when a background process holds the pipe open after the command exited. */
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

/** Starts the program of `launch`; throws a `ToolError` if that fails. */
export async function startCommand(request: CommandRequest, parts: CommandParts): Promise<RunningCommand> {
  const { launch, pipe, mark } = parts;
  const { cwd, env } = request;
  try {
    const stdin = request.takesInput ? 'pipe' : 'ignore';
    const child = spawnLaunch(launch, { cwd, env, mark }, [stdin, pipe.writer, pipe.writer]);
    if (child.pid === undefined) throw await new Promise<Error>((resolve) => child.once('error', resolve));
    // If the program no longer reads its stdin, the input is lost; that is not an error.
    child.stdin?.on('error', () => undefined);
    return watchChild(child, child.pid, { ...parts, onOutput: request.onOutput });
  } catch (error) {
    pipe.release({ isFree: true });
    await launch.release?.();
    throw startFailure(launch.argv[0] ?? '', cwd, error);
  } finally {
    pipe.closeWriter();
  }
}

/** Reads the output of the process, and kills what is left of its children when it exits. */
function watchChild(
  child: ChildProcess,
  pid: number,
  { launch, pipe, mark, output, onOutput }: CommandParts & { onOutput: CommandRequest['onOutput'] },
): RunningCommand {
  const tree = new ProcessTree(pid, mark);
  const reader = pipe.read((chunk) => {
    output.push(chunk);
    onOutput?.(output);
  });
  const reading = watchReader(reader, output);
  const events = new EventEmitter();
  const stopped = new Promise<Ending>((resolve) => events.once('stop', resolve));
  const ended = waitForEnd({ exited: exitOf(child), stopped, tree, reading, output });
  const result = ended
    .then(async (facts) => {
      const isUnstarted = facts.ending.type === 'exit' && launch.hasStarted?.() === false;
      return { ...facts, isUnstarted, findings: await findingsOf(launch) };
    })
    .finally(() => pipe.release({ isFree: reading.isDone() }));
  const stop = (ending: Ending) => {
    // The caller waits for the end of the command, so Lathe must not exit before it.
    reader.ref();
    events.emit('stop', ending);
  };
  const unref = () => {
    unrefChild(child);
    reader.unref();
  };
  launch.watch?.((path) => {
    // No time for it to write: what it still starts is found and ended with the rest.
    sendSignal(-pid, 'SIGKILL');
    stop({ type: 'unprotected', path });
  });
  return { pid, mark, output, input: child.stdin, result, stop, unref };
}

/** Never rejects: the command has ended, whatever the check says. */
async function findingsOf(launch: Launch): Promise<readonly string[]> {
  try {
    return (await launch.release?.()) ?? [];
  } catch (error) {
    const reason = thrownText(error);
    return [`Could not check what the command left behind: ${reason}`];
  }
}

/** Node reports a missing directory and a missing program with the same message. */
function startFailure(program: string, cwd: string, cause: unknown): ToolError {
  const isDirectory = statSync(cwd, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const reason = thrownText(cause);
  const problem = isDirectory ? `${program}: ${reason}` : `the directory ${cwd} does not exist (any more)`;
  return new ToolError('shell_execute_error', `The command could not be started: ${problem}`, { cause });
}

interface Reading {
  isDone(): boolean;
  /** Waits for the end of output: at most `maxMs`, and no longer than `idleMs` without a byte. */
  drain(maxMs: number, idleMs: number): Promise<void>;
}

function watchReader(reader: Socket, output: CapturedOutput): Reading {
  const done = once(reader, 'close');
  reader.on('error', () => reader.destroy());
  const drain = async (maxMs: number, idleMs: number) => {
    const deadline = performance.now() + maxMs;
    let idle = 0;
    while (!reader.closed && idle < idleMs && performance.now() < deadline) {
      const seen = output.totalBytes;
      const isOver = await Promise.race([done, pause(drainStepMs)]);
      if (isOver !== 'pause') return;
      // A busy event loop runs late timers before it reads its pipes: let it read first.
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

interface EndOptions {
  exited: Promise<Ending>;
  stopped: Promise<Ending>;
  tree: ProcessTree;
  reading: Reading;
  output: CapturedOutput;
}

/** Waits until the first process exits or the command is stopped, then until no process of it is left. */
async function waitForEnd({
  exited,
  stopped,
  tree,
  reading,
  output,
}: EndOptions): Promise<Omit<CommandResult, 'findings' | 'isUnstarted'>> {
  const first = await Promise.race([exited, stopped]);
  const isStopped = first.type !== 'exit' && first.type !== 'signal';
  // A caller may also stop the draining; a fork bomb is not drained at all.
  const isPatient = !isStopped && (reading.isDone() || tree.processes().length < maxDrainedProcesses);
  if (isPatient) await Promise.race([reading.drain(maxDrainMs, idleDrainMs), stopped]);
  const leftBehind = isStopped ? [] : tree.processes();
  const isEmpty = !isStopped && leftBehind.length === 0;
  const survivors = isEmpty ? [] : await tree.end({ isPolite: first.type !== 'unprotected' });
  // No process holds the pipe open any more, so this ends soon.
  if (survivors.length === 0) await reading.drain(maxDrainMs, maxDrainMs);
  output.close();
  return { ending: first, pid: tree.first, output, leftBehind, survivors };
}
