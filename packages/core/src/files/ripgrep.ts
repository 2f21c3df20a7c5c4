import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';

export interface RipgrepRun {
  signal: AbortSignal;
  /** Called with every piece of output; `false` ends the run. */
  onOutput: (chunk: Buffer) => boolean;
  /** An open directory that the child sees as descriptor 3. */
  directory?: number | undefined;
}

/** How a run ended: because `onOutput` had seen enough, or by itself. */
export type RipgrepEnd = { type: 'stopped' } | { type: 'exited'; code: number | null; stderr: string };

const maxStderr = 16_384;
/** A killed process that waits for a stuck device cannot go at once; nobody waits for it longer than this. */
const patienceMs = 150;

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
  async run(args: readonly string[], { signal, onOutput, directory }: RipgrepRun): Promise<RipgrepEnd> {
    const program = await this.#program();
    signal.throwIfAborted();
    const child = spawn(program, ['--no-config', ...args], {
      // A directory that surely exists; all paths in the arguments are absolute.
      cwd: dirname(program),
      env: process.platform === 'win32' ? { SystemRoot: process.env['SystemRoot'] } : {},
      stdio: ['ignore', 'pipe', 'pipe', directory ?? 'ignore'],
      windowsHide: true,
      signal,
      killSignal: 'SIGKILL',
    });
    let [isStopped, stderr] = [false, ''];
    child.stdout?.on('data', (chunk: Buffer) => {
      if (isStopped || onOutput(chunk)) return;
      isStopped = true;
      child.kill('SIGKILL');
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      if (stderr.length < maxStderr) stderr += chunk.toString('utf8');
    });
    const closed = new Promise<number | null>((resolve, reject) => {
      child.on('error', reject).on('close', resolve);
    });
    try {
      const code = await closed;
      return isStopped ? { type: 'stopped' } : { type: 'exited', code, stderr };
    } catch (error) {
      if (child.pid !== undefined)
        await Promise.race([new Promise((gone) => child.on('exit', gone)), setTimeout(patienceMs)]);
      signal.throwIfAborted();
      throw error;
    }
  }
}

async function installedProgram(): Promise<string> {
  const { rgPath } = await import('@vscode/ripgrep');
  return rgPath;
}
