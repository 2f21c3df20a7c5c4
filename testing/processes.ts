import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** A number of seconds to sleep that no other process on this machine sleeps. */
export function uniqueSleep(): string {
  return `${randomInt(100_000, 999_999)}.${randomInt(100_000, 999_999)}`;
}

/** The living processes with `text` among their arguments. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && argumentsOf(pid).includes(text));
}

/** Empty for a process that is gone, or dead and not yet collected. */
function argumentsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
