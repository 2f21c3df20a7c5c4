import { ToolError } from '../errors.js';
import { codeOf } from './fs-error.js';
import type { RipgrepEnd } from './ripgrep.js';
import type { WalkNotes } from './walk-notes.js';

/** Files that could not be read are noted; anything else that went wrong is a typed error, never "no matches". */
export function checkEnd({ code, stderr }: RipgrepEnd, notes: WalkNotes): void {
  if (code === 0 || code === 1) return;
  if (code === null) throw new ToolError('grep_execution_error', 'ripgrep was ended by a signal. Try again.');
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const aboutFiles = lines.filter((line) => /\(os error \d+\)$/.test(line));
  if (lines.length === 0 || aboutFiles.length < lines.length) throw searchError(stderr);
  for (const line of aboutFiles) {
    const [, path = '', reason = line] = /^(?:rg: )?(.*?): (.*)$/.exec(line) ?? [];
    notes.add('files that could not be read', Buffer.from(path).toString('latin1'), reason);
  }
}

/** Why ripgrep refused to search. Its hints about flags are of no use to somebody who cannot pass any. */
function searchError(stderr: string): ToolError {
  const message = stderr
    .replace(/^rg: /gm, '')
    .replace(/\n*Consider (?:enabling|using)[^]*$/, '')
    .trim();
  if (/regex parse error|look-around|backreferences|exceeds size limit|not supported/i.test(message))
    return new ToolError(
      'invalid_tool_params',
      `The pattern is not a valid regular expression (Rust syntax): ${message}`,
    );
  if (/not allowed in a regex/.test(message))
    return new ToolError('invalid_tool_params', `A match cannot go beyond the end of a line: ${message}`);
  return new ToolError('grep_execution_error', `ripgrep failed: ${message.slice(0, 500) || 'it did not say why'}`);
}

/** ripgrep could not even be started. */
export function startError(error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof ToolError || code === undefined) return error;
  return new ToolError(
    'grep_execution_error',
    `ripgrep could not be run (${code}). Is the package @vscode/ripgrep complete?`,
    {
      cause: error,
    },
  );
}
