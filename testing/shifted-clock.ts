import { existsSync, writeFileSync } from 'node:fs';

const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

/** Whether processes can have a clock of their own. */
export const canShiftClock = existsSync(library);

/** Variables that give a process the clock of a file. `setClock` moves it, also while the process runs. */
export function clockVariables(file: string): Record<string, string> {
  if (!canShiftClock) return {};
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

/** Moves a clock by so many seconds from the right time. */
export function setClock(file: string, seconds: number): void {
  writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}`);
}
