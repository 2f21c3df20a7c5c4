import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { ToolError } from '../../contract/errors.js';
import { OutputRing } from './captured-output.js';
import type { ContainedProgram, ProgramExit, ProgramRequest } from './contained-program.js';

export interface ProgramRun extends ProgramRequest {
  /** Given on stdin, which is then closed. */
  input: string;
}

export interface ProgramLimits {
  timeoutMs: number;
  /** A program that prints more than this on stdout is killed. */
  maxBytes: number;
  signal: AbortSignal;
  /** Called after each piece of output, with the newest bytes of both streams. */
  onOutput?: (output: OutputRing) => void;
}

/** How a program ended. */
export type ProgramEnding = ProgramExit | { type: 'timeout'; ms: number } | { type: 'flood'; bytes: number };

export interface ProgramResult {
  ending: ProgramEnding;
  stdout: string;
  /** Only its first and last bytes if there are very many. */
  stderr: string;
}

interface ProgramStarter {
  startProgram(request: ProgramRequest): Promise<ContainedProgram>;
}

/** How long to wait for more output when a background process holds stdout open. */
const drainMs = 500;

/** Runs a program to its end, bounded in time and output. Rejects when aborted; no process is left either way. */
export async function runProgram(
  starter: ProgramStarter,
  { input, ...request }: ProgramRun,
  limits: ProgramLimits,
): Promise<ProgramResult> {
  limits.signal.throwIfAborted();
  const program = await starter.startProgram(request);
  try {
    const output = collect(program, limits);
    program.stdin.end(input);
    const ending = await firstOf(program, output.flooded, limits);
    if (ending.type === 'exit' || ending.type === 'signal') await Promise.race([output.ended, wait(drainMs)]);
    return { ending, stdout: output.stdout(), stderr: output.stderr() };
  } finally {
    const survivors = await program.end();
    for (const stream of [program.stdout, program.stderr]) stream.destroy();
    if (survivors.length > 0)
      // oxlint-disable-next-line no-unsafe-finally -- processes that cannot be killed outweigh any other outcome
      throw new ToolError('execution_failed', `Could not kill ${survivors.join(', ')}, started by ${request.argv[0]}.`);
  }
}

function collect(program: ContainedProgram, { maxBytes, onOutput }: ProgramLimits) {
  const chunks: Buffer[] = [];
  const errors = new OutputRing(8_000, 32_000);
  const recent = new OutputRing(0, 4_000);
  const show = (chunk: Buffer) => {
    recent.push(chunk);
    onOutput?.(recent);
  };
  let bytes = 0;
  const flooded = new Promise<ProgramEnding>((resolve) => {
    program.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      show(chunk);
      if (bytes <= maxBytes) chunks.push(chunk);
      else resolve({ type: 'flood', bytes: maxBytes });
    });
  });
  program.stderr.on('data', (chunk: Buffer) => {
    errors.push(chunk);
    show(chunk);
  });
  return {
    stdout: () => Buffer.concat(chunks).toString('utf8'),
    stderr: () => {
      const note = errors.omittedBytes > 0 ? `\n[… ${errors.omittedBytes} bytes left out …]\n` : '';
      return errors.head().toString('utf8') + note + errors.tail().toString('utf8');
    },
    /** Settles when both streams have ended. */
    ended: Promise.all([once(program.stdout, 'close'), once(program.stderr, 'close')]),
    flooded,
  };
}

async function firstOf(
  program: ContainedProgram,
  flooded: Promise<ProgramEnding>,
  { timeoutMs, signal }: ProgramLimits,
): Promise<ProgramEnding> {
  const done = new AbortController();
  const either = AbortSignal.any([done.signal, signal]);
  const timeout = wait(timeoutMs, { type: 'timeout', ms: timeoutMs } as const, { signal: either });
  try {
    return await Promise.race([program.exited, flooded, timeout]);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    timeout.catch(() => undefined);
    done.abort();
  }
}
