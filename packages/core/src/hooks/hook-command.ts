import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { quietShell } from '../process/run/guardian.js';
import { MarkSeries, ProcessTree } from '../process/run/process-tree.js';

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
/** Runs all hooks, whatever the user's own shell is. */
const shell = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';

/** Runs a hook with JSON on its stdin. All processes that it started have ended afterwards. Never rejects. */
export async function runHookCommand(
  hook: HookCommand,
  input: unknown,
  { cwd, env }: HookPlace,
  signal: AbortSignal,
): Promise<HookExit> {
  const mark = series.next();
  // Without these flags bash treats a pipe on stdin as a remote login and runs the user's start-up files.
  const child = spawn(shell, [...quietShell(shell), '-c', hook.command], {
    cwd,
    env: { ...env, ...mark.variables },
    detached: true,
  });
  const stdout = collect(child, 'stdout');
  const stderr = collect(child, 'stderr');
  // A hook need not read its input.
  child.stdin.on('error', () => undefined).end(JSON.stringify(input));
  const ending = await endOf(child, hook.timeoutMs, signal);
  if (child.pid !== undefined) await new ProcessTree(child.pid, mark).end({ isPolite: false });
  // An escaped process that holds the other end of a pipe must not keep Lathe running.
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
    const abort = () => end('it was cancelled');
    const timer = setTimeout(() => end(`it did not finish within ${timeoutMs / 1000} s`), timeoutMs);
    const end = (result: number | string) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve(result);
    };
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    child.once('error', (error) => end(`it could not be started (${error.message})`));
    child.once('exit', (code, killedBy) => {
      // Output may still be in the pipe, which a background process may hold open.
      const finish = () => end(code ?? `it was killed by ${killedBy}`);
      setTimeout(finish, 200).unref();
      child.once('close', finish);
    });
  });
}

/** Collects the beginning of a stream and drops the rest. */
function collect(child: ChildProcessWithoutNullStreams, name: 'stdout' | 'stderr'): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  child[name].on('data', (chunk: Buffer) => {
    if (size < maxOutputBytes) chunks.push(chunk.subarray(0, maxOutputBytes - size));
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString('utf8');
}
