import { readdirSync } from 'node:fs';
import { readProc } from './call-mark.js';

/**
 * Shell code that closes every descriptor above stderr that a child would inherit. Node opens files with close-on-exec;
 * descriptors that Lathe inherited itself may lack it.
 */
export function closingInherited(shell: string): string {
  inherited ??= inheritableDescriptors();
  // Only bash accepts descriptor numbers of more than one digit.
  const closable = shell.endsWith('bash') ? inherited : inherited.filter((fd) => fd < 10);
  return closable.length === 0 ? '' : `exec ${closable.map((fd) => `${fd}>&-`).join(' ')}; `;
}

/** Read once, which saves 0.5 ms per command: `npm run bench -- --no-peers --only 'shell: run echo'`. */
let inherited: number[] | undefined;
const closeOnExec = 0o2000000;

function inheritableDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fdinfo')
      .map(Number)
      .filter((fd) => fd > 2 && !isClosedOnExec(fd));
  } catch {
    return [];
  }
}

function isClosedOnExec(fd: number): boolean {
  const flags = readProc(`/proc/self/fdinfo/${fd}`)?.match(/^flags:\s+([0-7]+)/m)?.[1];
  return flags === undefined || (Number.parseInt(flags, 8) & closeOnExec) !== 0;
}
