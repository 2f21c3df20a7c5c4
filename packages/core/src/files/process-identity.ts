import { createHash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { codeOf } from './fs-error.js';

/** Names a process so that any other process can say later whether it still runs: `pid|start|host|boot`. */
export async function processIdentity(pid: number): Promise<string> {
  const [started, { host, boot }] = await Promise.all([startOf(pid), machine()]);
  return [pid, started, host, boot].join('|');
}

/** `unknown` for a process of another machine or container, which cannot be checked from here. */
export async function processState(identity: string): Promise<'running' | 'gone' | 'unknown'> {
  const [pid = '', started, host, boot] = identity.split('|');
  const here = await machine();
  if (host !== here.host) return 'unknown';
  if (boot !== here.boot) return 'gone';
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return 'gone';
  }
  return (await startOf(Number(pid))) === started ? 'running' : 'gone';
}

/** The start time of a process, which distinguishes it from a later one with the same id. */
async function startOf(pid: number): Promise<string> {
  if (process.platform !== 'linux') return '';
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

let thisMachine: Promise<{ host: string; boot: string }> | undefined;

/** A host is a machine or, on Linux, a process namespace on it. */
function machine(): Promise<{ host: string; boot: string }> {
  thisMachine ??= (async () => {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '');
    const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
    const host = createHash('sha256').update(`${hostname()}|${namespace}`).digest('hex').slice(0, 16);
    return { host, boot: boot.trim() };
  })();
  return thisMachine;
}
