/**
 * Sanitizes text from outside for a terminal: control, bidirectional and invisible characters become visible escapes.
 * Newlines and tabs stay.
 */
export function visibleText(text: string): string {
  return text.replace(hidden, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** True when `visibleText` would change the text. */
export function hasHiddenText(text: string): boolean {
  return text.search(hidden) !== -1;
}

/** Where the hidden characters are, such as `U+200B in line 3`. */
export function hiddenPlaces(text: string): string[] {
  if (!hasHiddenText(text)) return [];
  return text
    .split('\n')
    .flatMap((line, index) => (line.match(hidden) ?? []).map((found) => `${codeOf(found)} in line ${index + 1}`));
}

/** Shows invisible characters by their code, as diffs do, because a backslash has a meaning in code. */
export function spelledOut(text: string): string {
  return text.replace(hidden, (character) => `<${codeOf(character)}>`);
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

const shownItems = 3;

/** The first few of a list, and how many more there are. */
export function firstFew(items: readonly string[]): string {
  const distinct = [...new Set(items)];
  const more = distinct.length - shownItems;
  return distinct.slice(0, shownItems).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

// Control characters except \t and \n, format characters, line separators, lone surrogates and default-ignorable
// characters. Variation selectors after an emoji or a digit (⚠️, 1️⃣) and joiners between two emoji (👩🏽‍💻) are visible.
const hidden =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}](?<!\p{Extended_Pictographic}[\ufe0e\ufe0f]|[\d#*]\ufe0f(?=\u20e3)|\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?\u200d(?=\p{Extended_Pictographic}))/gu;

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
