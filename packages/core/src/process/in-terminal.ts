import { ToolError } from '../errors.js';
import { trustedPath } from './trusted-path.js';

/**
 * A program and its arguments inside a pseudo-terminal, by `script` of util-linux: the terminal is new and belongs to
 * the command alone, so that nothing of ours can be read or typed into through it.
 */
export function inTerminal(argv: readonly string[]): string[] {
  const script = process.platform === 'linux' ? trustedPath('script', { outside: [] }) : undefined;
  if (script === undefined)
    throw new ToolError('shell_execute_error', 'There is no program to make a terminal with: script of util-linux.');
  const sized = `stty rows 40 cols 120 2>/dev/null; exec ${argv.map(quote).join(' ')}`;
  return [script, '--quiet', '--return', '--flush', '--command', sized, '/dev/null'];
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
