import { existsSync, readdirSync, readFileSync } from 'node:fs';

export const canSeeProcesses = existsSync('/proc/self/cmdline');

/** Whether any process has the text among its arguments. */
export function isRunning(text: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(text);
    } catch {
      return false;
    }
  });
}
