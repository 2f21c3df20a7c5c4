import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { hasProgram } from './programs.js';

export const canInject =
  process.platform === 'linux' && hasProgram('strace') && spawnSync('strace', ['true']).status === 0;

/** How a child that was disturbed has ended. */
export interface Ending {
  /** What it said last, if it came to that. */
  answer: { status: string; type?: string; message?: string } | undefined;
  killed: boolean;
  /** The system calls of its file thread, when they were recorded. */
  calls: string[];
}

export interface Fault {
  /** What strace injects, such as `fsync:error=EIO:when=1`; nothing to record only. */
  inject?: string;
  /** Where to write the record of system calls. */
  record?: string;
  /** With the paths of descriptors and the beginning of what is written. */
  isDetailed?: boolean;
  /** Run as this user and group. */
  uid?: number;
}

/**
 * Starts a child of `testing/children`, attaches strace to the one thread that makes its file system calls, says go,
 * and waits for the end. The rest of the process runs at full speed, so a run takes a fraction of a second.
 */
export async function runWithFault(script: string, args: readonly string[], fault: Fault): Promise<Ending> {
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(fault.uid !== undefined && { uid: fault.uid, gid: fault.uid }),
  });
  const exited = once(child, 'close');
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  output.on('line', (line) => lines.push(line));
  await once(output, 'line');
  const { thread } = JSON.parse(lines[0] ?? '') as { thread: number };
  const tracer = await attach(thread, fault);
  child.stdin.on('error', () => {}).write('go\n');
  const [, signal] = (await exited) as [number | null, NodeJS.Signals | null];
  if (tracer) await tracer.ended;
  return {
    answer: lines[1] === undefined ? undefined : JSON.parse(lines[1]),
    killed: signal === 'SIGKILL',
    calls: fault.record === undefined ? [] : callsIn(readFileSync(fault.record, 'utf8')),
  };
}

async function attach(
  thread: number,
  { inject, record, isDetailed = false }: Fault,
): Promise<{ ended: Promise<unknown> } | undefined> {
  if (inject === undefined && record === undefined) return undefined;
  const options =
    inject === undefined
      ? [...(isDetailed ? ['-y', '-s', '4096'] : []), '-e', 'trace=%file,%desc']
      : ['-e', `inject=${inject}`];
  const tracer: ChildProcess = spawn('strace', ['-p', String(thread), '-o', record ?? '/dev/null', ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(tracer, 'close');
  let said = '';
  await new Promise<void>((resolve, reject) => {
    tracer.stderr?.on('data', (data: Buffer) => {
      said += data.toString();
      if (said.includes('attached')) resolve();
    });
    ended.then(() => reject(new Error(`strace did not attach: ${said}`)), reject);
  });
  return { ended };
}

function callsIn(record: string): string[] {
  return record.split('\n').flatMap((line) => /^(\w+)\(/.exec(line)?.[1] ?? []);
}

/** Every point at which these calls can be interrupted: `rename:signal=KILL:when=1` and so on. */
export function killPoints(calls: readonly string[]): string[] {
  const counts = new Map<string, number>();
  return calls.map((call) => {
    const nth = (counts.get(call) ?? 0) + 1;
    counts.set(call, nth);
    return `${call}:signal=KILL:when=${nth}`;
  });
}
