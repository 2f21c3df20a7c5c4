/**
 * Program output as plain text: without escape sequences and control characters except tab and newline. A line that was
 * redrawn in place is shown in its last state. Takes linear time.
 */
export function plainText(text: string): string {
  const withoutSequences = text.replace(escapeSequences, '').replaceAll('\r\n', '\n');
  const settled = redrawn.test(withoutSequences)
    ? withoutSequences.split('\n').map(settle).join('\n')
    : withoutSequences;
  return settled.replace(controlCharacters, '');
}

const escape = '\\u001b';
const bell = '\\u0007';
/** Control strings (titles, links, images), then `ESC [ … letter`, then short sequences. */
const escapeSequences = new RegExp(
  [
    `(?:${escape}[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^${bell}${escape}\\u009c\\n]*(?:${bell}|${escape}\\\\|\\u009c)?`,
    `(?:${escape}\\[|\\u009b)[0-?]*[ -/]*[@-~]?`,
    `${escape}[ -/]*[0-~]?`,
  ].join('|'),
  'gu',
);
const redrawn = new RegExp('[\\r\\b]', 'u');
const controlCharacters = /(?![\n\t])\p{Cc}/gu;

/** The visible text of one line after carriage returns and backspaces. */
function settle(line: string): string {
  const last = line.split('\r').findLast((part) => part !== '') ?? '';
  if (!last.includes('\b')) return last;
  const kept: string[] = [];
  for (const character of last) {
    if (character === '\b') kept.pop();
    else kept.push(character);
  }
  return kept.join('');
}
