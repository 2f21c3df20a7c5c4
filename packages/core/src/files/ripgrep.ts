import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { setInterval as setTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { LogFile } from './log-file.js';

export interface RipgrepRun {
  /** Aborting it kills the process. */
  signal: AbortSignal;
  /** Without it, output is thrown away. */
  onOutput?: (chunk: Buffer) => void;
  /** Given what the process writes to standard error, a little later, instead of `stderr` at the end. */
  onLog?: (chunk: Buffer) => void;
  /** An open directory that the process sees as descriptor 3. */
  directory?: number | undefined;
}

export interface RipgrepEnd {
  /** 0 something found, 1 nothing found, 2 something went wrong, `null` killed by somebody else. */
  code: number | null;
  stderr: string;
}

const maxStderr = 16_384;
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

  constructor(program: () => Promise<string> = installedProgram) {
    this.#program = program;
  }

  /** Rejects with the signal's reason when aborted, and with the system's error when the program cannot be started. */
  async run(args: readonly string[], { signal, onOutput, onLog, directory }: RipgrepRun): Promise<RipgrepEnd> {
    const program = await this.#program();
    signal.throwIfAborted();
    // Ripgrep writes its log word by word: as a pipe, it would wake us for each.
    const log = onLog && LogFile.open();
    const child = spawn(program, ['--no-config', ...args], {
      // A directory that surely exists; all paths in the arguments are absolute.
      cwd: dirname(program),
      env: process.platform === 'win32' ? { SystemRoot: process.env['SystemRoot'] } : {},
      stdio: ['ignore', onOutput === undefined ? 'ignore' : 'pipe', log?.fd ?? 'pipe', directory ?? 'ignore'],
      windowsHide: true,
      signal,
      killSignal: 'SIGKILL',
    });
    let stderr = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      if (!signal.aborted) onOutput?.(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      if (onLog !== undefined) onLog(chunk);
      else if (stderr.length < maxStderr) stderr += chunk.toString('utf8');
    });
    const readLog = () => log?.readNew((chunk) => onLog?.(chunk));
    const reading = log && setTimer(readLog, readLogMs);
    const exited = new Promise((resolve) => child.on('exit', resolve));
    try {
      const code = await new Promise<number | null>((resolve, reject) => {
        child.on('error', reject).on('close', resolve);
      });
      readLog();
      return { code, stderr };
    } catch (error) {
      if (child.pid !== undefined) await Promise.race([exited, setTimeout(patienceMs)]);
      signal.throwIfAborted();
      throw error;
    } finally {
      clearInterval(reading);
      log?.close();
    }
  }
}

async function installedProgram(): Promise<string> {
  const { rgPath } = await import('@vscode/ripgrep');
  return rgPath;
}
