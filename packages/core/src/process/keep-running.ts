import { ToolError } from '../errors.js';
import { closingInherited } from './descriptors.js';
import { quietShell } from './guardian.js';
import type { Launch } from './running-command.js';

/**
 * For bash: lets a program outlive Lathe: a small helper of its own takes what it prints, so that it neither waits for a reader
 * that is gone nor fills the disk. The helper holds the program's first stdout until the last byte is written, by which
 * a living Lathe knows that the file is complete.
 */
export function keeping(
  { argv, ...launch }: Launch,
  { shell, file, maxBytes }: { shell: string; file: string | undefined; maxBytes: number },
): Launch {
  if (file === undefined) throw new ToolError('shell_execute_error', 'There is no file for the output of the command.');
  const { placeholders = [] } = launch;
  const script = `exec "\${@:3 + $2}" > >(${closingInherited(shell)}${taker(maxBytes / 1024)}) 2>&1`;
  return {
    ...launch,
    argv: [
      shell,
      ...quietShell(shell),
      '-c',
      script,
      'lathe',
      file,
      `${placeholders.length}`,
      ...placeholders,
      ...argv,
    ],
  };
}

/**
 * $1 file, $2 number of placeholders, then these. A limit on the size of files ends the first cat when the file is
 * full; the second one takes the rest, so that the program goes on. Placeholders are ours only when Lathe is gone.
 */
function taker(kilobytes: number): string {
  return `
exec 2>/dev/null
ulimit -c 0
(ulimit -f ${kilobytes}; exec cat >>"$1")
cat >/dev/null
kill -0 $PPID || rmdir -- "\${@:3:$2}"
`;
}
