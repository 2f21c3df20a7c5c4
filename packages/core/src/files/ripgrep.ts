import { execFile, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { setInterval as setTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ToolError } from '../errors.js';
import { LogFile } from './log-file.js';

export interface RipgrepRun {
  /** Aborting it kills the process. */
  signal: AbortSignal;
  /** Without it, output is thrown away. */
  onOutput?: (chunk: Buffer) => void;
  /** Given what the process writes to standard error. */
  onError?: (chunk: Buffer) => void;
  /** The same, a little later, for a process that writes a lot of it. */
  onLog?: (chunk: Buffer) => void;
  /** Whether what it wrote could only come from ripgrep. */
  isProven?: () => boolean;
  /** An open directory that the process sees as descriptor 3. */
  directory?: number | undefined;
}

/** 0 something found, 1 nothing found, 2 something went wrong, `null` killed by somebody else. */
export type ExitCode = number | null;

/** A killed process that waits for a stuck device cannot go at once; nobody waits for it longer than this. */
const patienceMs = 150;
/** How often a log is read while it grows. */
const readLogMs = 50;

/**
 * The ripgrep that is installed with this package: found by package resolution, never by `PATH`, the current
 * directory or the workspace, and run without a shell, an environment or a configuration file.
 */
export class Ripgrep {
  readonly #program: () => Promise<string>;
  #path: string | undefined;
  #isProven = false;

  constructor(program: () => Promise<string> = installedProgram) {
    this.#program = program;
  }

  /** Rejects with the signal's reason when aborted, and with the system's error when the program cannot be started. */
  async run(args: readonly string[], run: RipgrepRun): Promise<ExitCode> {
    // Without a turn of the event loop from the second time on.
    this.#path ??= await this.#program();
    const program = this.#path;
    run.signal.throwIfAborted();
    const code = await runProgram(program, ['--no-config', ...args], run);
    this.#isProven ||= run.isProven?.() === true;
    if (code === 1 && !this.#isProven) await this.#prove(program, run.signal);
    return code;
  }

  /** Any program can end with 1: that nothing was found is believed of one that says it is ripgrep. */
  async #prove(program: string, signal: AbortSignal): Promise<void> {
    const said = await promisify(execFile)(program, ['--version'], {
      ...surroundings(program),
      signal,
      killSignal: 'SIGKILL',
    }).catch(() => {});
    signal.throwIfAborted();
    this.#isProven = said?.stdout.startsWith('ripgrep ') === true;
    if (!this.#isProven) throw new ToolError('grep_execution_error', `${program} is not ripgrep.`);
  }
}

function surroundings(program: string) {
  return {
    // A directory that surely exists; all paths in the arguments are absolute.
    cwd: dirname(program),
    env: process.platform === 'win32' ? { SystemRoot: process.env['SystemRoot'] } : {},
    windowsHide: true,
  };
}

async function runProgram(
  program: string,
  args: readonly string[],
  { signal, onOutput, onError, onLog, directory }: RipgrepRun,
): Promise<ExitCode> {
  // Ripgrep writes its log word by word: as a pipe, it would wake us for each.
  const log = onLog && LogFile.open();
  const child = spawn(program, args, {
    ...surroundings(program),
    stdio: ['ignore', onOutput === undefined ? 'ignore' : 'pipe', log?.fd ?? 'pipe', directory ?? 'ignore'],
    signal,
    killSignal: 'SIGKILL',
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    if (!signal.aborted) onOutput?.(chunk);
  });
  child.stderr?.on('data', (chunk: Buffer) => (onLog ?? onError)?.(chunk));
  const readLog = () => log?.readNew((chunk) => onLog?.(chunk));
  const reading = log && setTimer(readLog, readLogMs);
  const exited = new Promise((resolve) => child.on('exit', resolve));
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject).on('close', resolve);
    });
    readLog();
    if (code === 2) log?.refuseIfFull();
    return code;
  } catch (error) {
    if (child.pid !== undefined) await Promise.race([exited, setTimeout(patienceMs)]);
    signal.throwIfAborted();
    throw error;
  } finally {
    clearInterval(reading);
    log?.close();
  }
}

async function installedProgram(): Promise<string> {
  const { rgPath } = await import('@vscode/ripgrep');
  return rgPath;
}
