/** The words of a command line, or why it cannot be split. */
export type SplitResult = { ok: true; words: string[] } | { ok: false; problem: string };

/**
 * Splits a command line as a POSIX shell would, for a program that is started without one. Quotes, backslashes
 * and `~/` work as in a shell. Pipes, redirections, substitutions and several commands need a shell and are rejected
 * with a hint.
 */
export function splitArguments(line: string, { home }: { home?: string } = {}): SplitResult {
  const words: string[] = [];
  let rest = line.trim();
  while (rest !== '') {
    const word = takeWord(rest);
    if (typeof word === 'string') return { ok: false, problem: word };
    words.push(expandHome(word, home));
    rest = rest.slice(word.length).trimStart();
  }
  return words.length > 0 ? { ok: true, words } : { ok: false, problem: 'the command is empty' };
}

interface Word {
  text: string;
  /** Its length in the line. */
  length: number;
  /** Begins with a tilde that is neither quoted nor escaped. */
  hasTilde: boolean;
}

/** In this order: quoted text, an escaped character, plain text. */
const piece = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\|&;<>()`]+)/y;

function takeWord(line: string): Word | string {
  let text = '';
  let length = 0;
  while (length < line.length && !/\s/.test(line[length] ?? '')) {
    piece.lastIndex = length;
    const match = piece.exec(line);
    if (match === null) return problemAt(line[length] ?? '');
    const [whole, single, double, escaped, plain] = match;
    if (/\$\(|`/.test(double ?? '')) return needsShell('a substitution');
    text += single ?? plain ?? unquoted(double, escaped);
    length += whole.length;
  }
  return { text, length, hasTilde: line.startsWith('~') };
}

function unquoted(double: string | undefined, escaped = ''): string {
  return double?.replace(/\\([$`"\\\n])/g, unescape) ?? unescape('', escaped);
}

/** A backslash before a line break removes both. */
const unescape = (_: string, character: string): string => (character === '\n' ? '' : character);

function problemAt(character: string): string {
  if (character === "'" || character === '"') return `a quote (${character}) is not closed`;
  if (character === '\\') return 'it ends with a backslash';
  return needsShell(`"${character}"`);
}

function needsShell(what: string): string {
  return `${what} needs a shell; quote it, or run the command with bash -c '…'`;
}

function expandHome({ text, hasTilde }: Word, home: string | undefined): string {
  if (home === undefined || !hasTilde || (text !== '~' && !text.startsWith('~/'))) return text;
  return home + text.slice(1);
}
