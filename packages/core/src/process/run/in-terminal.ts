import { ToolError } from '../../contract/errors.js';
import { trustedPath } from './trusted-path.js';

/**
 * Runs a program in a new pseudo-terminal, made by `script` of util-linux. Only the command uses that terminal, so it
 * can neither read from ours nor write to it.
 */
export function inTerminal(argv: readonly string[]): string[] {
  const script = process.platform === 'linux' ? trustedPath('script', { outside: [] }) : undefined;
  if (script === undefined)
    throw new ToolError(
      'shell_execute_error',
      'A terminal needs the program script of util-linux, which is not installed.',
    );
  const sized = `stty rows 40 cols 120 2>/dev/null; exec ${argv.map(quote).join(' ')}`;
  return [script, '--quiet', '--return', '--flush', '--command', sized, '/dev/null'];
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
