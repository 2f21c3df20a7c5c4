import { readdirSync, readFileSync } from 'node:fs';

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
  try {
    const flags = readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1').match(/^flags:\s+([0-7]+)/m)?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & closeOnExec) !== 0;
  } catch {
    return true;
  }
}
