import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface FaultyRun {
  outcomes: Record<string, string>;
  /** How many calls of a built-in tool were made meanwhile. */
  calls: number;
  /** How many milliseconds late the latest of them was done, without what a busy machine made it wait. */
  latest: number;
  /** The most megabytes above those of a process with one good server: given by the system, and held after a collection. */
  used: number;
  held: number;
  /** Servers that were still there when the process was over. */
  survivors: string[];
}

/** Starts a server with each fault in a process of its own, which has nothing else in memory, and calls them all. */
export async function runFaultyServers(faults: Readonly<Record<string, string>>): Promise<FaultyRun> {
  const script = join(import.meta.dirname, 'children', 'faulty-servers.mjs');
  execFileSync(process.execPath, [join(import.meta.dirname, '..', 'scripts', 'setup.mjs')], { stdio: 'ignore' });
  const mark = `faulty-run=${process.pid}`;
  const args = ['--expose-gc', script, JSON.stringify(faults), mark];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 150_000, maxBuffer: 2 ** 24 });
  const report: Omit<FaultyRun, 'survivors'> = JSON.parse(stdout);
  const processes = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  return { ...report, survivors: processes.split('\n').filter((line) => line.includes(mark)) };
}
