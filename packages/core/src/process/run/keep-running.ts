import { ToolError } from '../../contract/errors.js';
import type { Launch } from './contained-program.js';
import { closingInherited } from './descriptors.js';
import { quietShell } from './guardian.js';

/**
 * Lets a program outlive Lathe (bash only). A small helper process writes its output to a file, so that the program
 * neither waits for a reader that is gone nor fills the disk. The helper keeps the original stdout open until the last
 * byte is written, which tells a running Lathe that the file is complete.
 */
export function keepRunning(
  { argv, ...launch }: Launch,
  { shell, file, maxBytes }: { shell: string; file: string | undefined; maxBytes: number },
): Launch {
  if (file === undefined) throw new ToolError('shell_execute_error', 'There is no file for the output of the command.');
  const { placeholders = [] } = launch;
  const script = `exec "\${@:3 + $2}" > >(${closingInherited(shell)}${outputWriter(maxBytes / 1024)}) 2>&1`;
  const parameters = [file, `${placeholders.length}`, ...placeholders, ...argv];
  return { ...launch, argv: [shell, ...quietShell(shell), '-c', script, 'lathe', ...parameters] };
}

/**
 * $1 file, $2 number of placeholders, then the placeholders. The file size limit ends the first cat when the file is
 * full; the second one discards the rest, so that the program goes on. The placeholders are removed here only if Lathe
 * is gone.
 */
function outputWriter(kilobytes: number): string {
  return `
exec 2>/dev/null
ulimit -c 0
(ulimit -f ${kilobytes}; exec cat >>"$1")
cat >/dev/null
kill -0 $PPID || rmdir -- "\${@:3:$2}"
`;
}
