import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { setInterval as setTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ToolError } from '../../contract/errors.js';
import { argumentFor, type BytePath, systemPath } from '../byte-path.js';

export interface RipgrepRun {
  /** What to search: a file or a directory. */
  path: BytePath;
  /** Aborting it kills the process. */
  signal: AbortSignal;
  /** Output is not read further until the promise resolves. */
  onOutput: (chunk: Buffer) => void | Promise<void>;
  onError: (chunk: Buffer) => void;
}

/** 0 something found, 1 nothing found, 2 something went wrong, `null` killed by another process. */
export type ExitCode = number | null;

/** ripgrep reads ignore files of any size and needs sixteen times their size in memory. */
const defaultMaxMemory = 2 ** 31;
const lookAtMemoryMs = 200;

/** The process was killed because it used too much memory. Its output so far is right but incomplete. */
export class RipgrepTooLarge extends Error {}

/** How long to wait for the exit of a killed process: one that is blocked on a device does not exit at once. */
const patienceMs = 150;

/**
 * The ripgrep that is installed with this package: found by package resolution, never by `PATH`, the current
 * directory or the workspace, and run without a shell, an environment or a configuration file.
 */
export class Ripgrep {
  readonly #program: () => Promise<string>;
  readonly #maxMemory: number;
  #path: string | undefined;
  #isProven = false;

  constructor(program: () => Promise<string> = installedProgram, { maxMemory = defaultMaxMemory } = {}) {
    this.#program = program;
    this.#maxMemory = maxMemory;
  }

  /** Rejects with the signal's reason when aborted, and with the system's error when the program cannot be started. */
  async run(args: readonly string[], run: RipgrepRun): Promise<ExitCode> {
    // Resolved once, so that later runs start at once.
    this.#path ??= await this.#program();
    const program = this.#path;
    run.signal.throwIfAborted();
    const code = await runProgram(program, ['--no-config', ...args], { ...run, maxMemory: this.#maxMemory });
    if (code === 1 && !this.#isProven) await this.#prove(program, run.signal);
    return code;
  }

  /** Any program can exit with 1, so "nothing found" counts only from one that says it is ripgrep. */
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

const throughDescriptor = /^\/proc\/self\/fd\/3(?=\/|$)/;

/** Turns what ripgrep prints while it searches `path` into real names. */
export function printedPaths(path: BytePath): (printed: BytePath) => BytePath {
  if (argumentFor(path) !== undefined) return (printed) => printed;
  return (printed) => printed.replace(throughDescriptor, () => path);
}

function surroundings(program: string) {
  const isWindows = process.platform === 'win32';
  return {
    // Ripgrep sees globs that begin with a slash from here, so that they are absolute, like all paths.
    cwd: isWindows ? dirname(program) : '/',
    env: isWindows ? { SystemRoot: process.env['SystemRoot'] } : {},
    windowsHide: true,
  };
}

interface LimitedRun extends RipgrepRun {
  maxMemory: number;
}

async function runProgram(program: string, args: readonly string[], run: LimitedRun): Promise<ExitCode> {
  const argument = argumentFor(run.path);
  // A path that is not valid UTF-8 cannot be an argument.
  const descriptor = argument === undefined ? openSync(systemPath(run.path), 'r') : undefined;
  const child = spawn(program, [...args, '--', argument ?? '/proc/self/fd/3'], {
    ...surroundings(program),
    stdio: ['ignore', 'pipe', 'pipe', descriptor ?? 'ignore'],
    signal: run.signal,
    killSignal: 'SIGKILL',
  });
  let isTooLarge = false;
  const watching = setTimer(() => {
    isTooLarge ||= memoryOf(child.pid) > run.maxMemory;
    if (isTooLarge) child.kill('SIGKILL');
  }, lookAtMemoryMs);
  const exited = new Promise((resolve) => child.on('exit', resolve));
  try {
    child.stderr?.on('data', run.onError);
    const closed = new Promise<ExitCode>((resolve, reject) => child.on('error', reject).on('close', resolve));
    const [code] = await Promise.all([closed, readOutput(child.stdout, run)]);
    if (isTooLarge) throw new RipgrepTooLarge();
    return code;
  } catch (error) {
    child.kill('SIGKILL');
    child.stdout?.destroy();
    if (child.pid !== undefined) await Promise.race([exited, setTimeout(patienceMs)]);
    run.signal.throwIfAborted();
    throw error;
  } finally {
    clearInterval(watching);
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The private memory of a process in bytes; 0 where the system does not tell. */
function memoryOf(pid: number | undefined): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
    return (resident - shared) * pageSize;
  } catch {
    return 0;
  }
}

const pageSize = 4096;

async function readOutput(output: Readable | null, { signal, onOutput }: RipgrepRun): Promise<void> {
  for await (const chunk of output ?? []) {
    if (signal.aborted) return;
    await onOutput(chunk);
  }
}

async function installedProgram(): Promise<string> {
  const { rgPath } = await import('@vscode/ripgrep');
  return rgPath;
}
