import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { MarkSeries } from '../process/run/call-mark.js';
import { quietShell } from '../process/run/guardian.js';
import { ProcessTree } from '../process/run/process-tree.js';

export interface HookCommand {
  command: string;
  timeoutMs: number;
}

export interface HookPlace {
  cwd: string;
  env: Readonly<Record<string, string>>;
}

export type HookExit =
  | { status: 'exited'; code: number; stdout: string; stderr: string }
  | { status: 'failed'; reason: string };

const maxOutputBytes = 256 * 1024;
const series = new MarkSeries();
/** The one shell that runs hooks, whatever the person's own is. */
const shell = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';

/** Runs a hook with JSON on its stdin. Whatever it started is gone afterwards. Never rejects. */
export async function runHookCommand(
  hook: HookCommand,
  input: unknown,
  { cwd, env }: HookPlace,
  signal: AbortSignal,
): Promise<HookExit> {
  const mark = series.next();
  // Without these flags bash takes a pipe on stdin for a login over the network and reads the person's start-up files.
  const child = spawn(shell, [...quietShell(shell), '-c', hook.command], {
    cwd,
    env: { ...env, ...mark.variables },
    detached: true,
  });
  const stdout = collect(child, 'stdout');
  const stderr = collect(child, 'stderr');
  // A hook that does not read its input is no error.
  child.stdin.on('error', () => undefined).end(JSON.stringify(input));
  const ending = await endOf(child, hook.timeoutMs, signal);
  if (child.pid !== undefined) await new ProcessTree(child.pid, mark).end({ isPolite: false });
  // Whoever got away with the other end of a pipe must not keep Lathe running.
  for (const stream of child.stdio) stream?.destroy();
  if (typeof ending === 'number') return { status: 'exited', code: ending, stdout: stdout(), stderr: stderr() };
  return { status: 'failed', reason: ending };
}

/** The exit code, or why there is none. */
function endOf(
  child: ChildProcessWithoutNullStreams,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<number | string> {
  return new Promise((resolve) => {
    const abort = () => end('it was interrupted');
    const timer = setTimeout(() => end(`it did not finish within ${timeoutMs / 1000} s`), timeoutMs);
    const end = (result: number | string) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve(result);
    };
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    child.once('error', (error) => end(`it could not be started (${error.message})`));
    child.once('exit', (code, killed) => {
      // Output may still be in the pipe; it is over when the pipe is, but not much later.
      const late = setTimeout(() => end(code ?? `it was ended by ${killed}`), 200);
      child.once('close', () => {
        clearTimeout(late);
        end(code ?? `it was ended by ${killed}`);
      });
    });
  });
}

/** Collects the beginning of a stream; the rest is read and dropped. */
function collect(child: ChildProcessWithoutNullStreams, name: 'stdout' | 'stderr'): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  child[name].on('data', (chunk: Buffer) => {
    if (size < maxOutputBytes) chunks.push(chunk.subarray(0, maxOutputBytes - size));
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString('utf8');
}
