import type { Argument } from '../shell/expand-word.js';
import { type Effects, flagList, sortArguments } from './read-arguments.js';

/** Without long names for -F and -v, which mawk does not know: it may take what follows for the program. */
const flags = flagList('-F: -v: --version +');

/** Longer ones are not read: what reads them takes more than linear time on hostile text. */
const maxProgram = 2_000;

/** Without -f and extensions; programs that can neither run a command nor open a file by name. */
export function judgeAwk(args: readonly Argument[]): Effects {
  const sorted = sortArguments(args, flags);
  if (typeof sorted === 'string') return { why: sorted };
  const [program, ...files] = sorted.operands;
  // An assignment that becomes several words is followed by files.
  const reads = files.filter(({ value, isOpen }) => isOpen || (value !== '-' && !/^[A-Za-z_]\w*=/.test(value)));
  if (program === undefined) return {};
  if (program.isKnown && program.value.length <= maxProgram && isPlainProgram(program.value)) return { reads };
  return { why: 'its program may do more than print', reads };
}

/** Whether an awk program has no redirection, pipe, system(), getline or extension, and leaves the list of files alone. Where the lexing is in doubt: no. */
function isPlainProgram(source: string): boolean {
  const code = withoutLiterals(source);
  if (code === undefined) return false;
  // Anywhere in a word: what comes behind a number begins a new one.
  if (/system|getline|close|fflush|extension|include|load|ARGV|ARGC|SYMTAB|FUNCTAB|PROCINFO|@/.test(code)) return false;
  if (code.replaceAll('||', '').includes('|')) return false;
  return !redirects(code);
}

/** A `>` compares in a pattern or without a print statement; in a print statement it writes a file. */
function redirects(code: string): boolean {
  let depth = 0;
  for (const character of code) {
    if (character === '{') depth++;
    if (character === '}') depth--;
    if (character === '>' && depth > 0 && code.includes('print')) return true;
  }
  return false;
}

/** The program with strings and regular expressions emptied; `undefined` when a slash could be either. */
function withoutLiterals(source: string): string | undefined {
  let code = '';
  for (let at = 0; at < source.length; at++) {
    const character = source[at] ?? '';
    // A comment, or a line that goes on: both make it unclear what the next slash is.
    if (character === '#' || character === '\\') return undefined;
    if (character !== '"' && character !== '/') {
      code += character;
      continue;
    }
    if (character === '/' && !/(^|[~(,{};!&|\n])\s*$/.test(code)) {
      // A division: safe to go on only when no later quote or slash could be read differently.
      if (/["/]/.test(source.slice(at + 1))) return undefined;
      code += character;
      continue;
    }
    const end = endOfLiteral(source, at);
    if (end === -1) return undefined;
    code += '""';
    at = end;
  }
  return code;
}

/** Brackets hold no slash and end at the same place for every awk; the regular expression ends at the next bare slash. */
const regex = /\/(?:[^\\/[\n]|\\[^\n]|\[\^?(?![\]^])(?:[^\]\\/[\n]|\[:[a-z]+:\])+\])*\//y;
const string = /"(?:[^\\"\n]|\\[^\n])*"/y;

function endOfLiteral(source: string, start: number): number {
  const literal = source[start] === '/' ? regex : string;
  literal.lastIndex = start;
  return literal.test(source) ? literal.lastIndex - 1 : -1;
}
