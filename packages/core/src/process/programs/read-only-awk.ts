import type { Argument } from '../shell/expand-word.js';
import { type Effects, flagList, sortArguments } from './read-arguments.js';

/** Without the long names of -F and -v: mawk does not know them and may take the next word as the program. */
const flags = flagList('-F: -v: --version +');

/** Longer programs are not parsed, because hostile text would take more than linear time. */
const maxProgram = 2_000;

/** Proves programs that can neither run a command nor open a file by name. Without -f and extensions. */
export function judgeAwk(args: readonly Argument[]): Effects {
  const sorted = sortArguments(args, flags);
  if (typeof sorted === 'string') return { why: sorted };
  const [program, ...files] = sorted.operands;
  // An assignment that expands to several words may contain file names.
  const reads = files.filter(({ value, isOpen }) => isOpen || (value !== '-' && !/^[A-Za-z_]\w*=/.test(value)));
  if (program === undefined) return {};
  if (program.isKnown && program.value.length <= maxProgram && isPlainProgram(program.value)) return { reads };
  return { why: 'its program may do more than print', reads };
}

/**
 * Whether an awk program has no redirection, pipe, system(), getline or extension, and does not change its list of
 * files. False if the tokens of the program are ambiguous.
 */
function isPlainProgram(source: string): boolean {
  const code = withoutLiterals(source);
  if (code === undefined) return false;
  // Anywhere in a word, because a new word may start right after a number.
  if (/system|getline|close|fflush|extension|include|load|ARGV|ARGC|SYMTAB|FUNCTAB|PROCINFO|@/.test(code)) return false;
  if (code.replaceAll('||', '').includes('|')) return false;
  return !redirects(code);
}

/** A `>` in a print statement writes a file; elsewhere it compares. */
function redirects(code: string): boolean {
  let depth = 0;
  for (const character of code) {
    if (character === '{') depth++;
    if (character === '}') depth--;
    if (character === '>' && depth > 0 && code.includes('print')) return true;
  }
  return false;
}

/** The program with empty strings in place of literals; `undefined` if a slash could be a division or a literal. */
function withoutLiterals(source: string): string | undefined {
  let code = '';
  for (let at = 0; at < source.length; at++) {
    const character = source[at] ?? '';
    // After a comment or a continued line, the meaning of the next slash is ambiguous.
    if (character === '#' || character === '\\') return undefined;
    if (character !== '"' && character !== '/') {
      code += character;
      continue;
    }
    if (character === '/' && !/(^|[~(,{};!&|\n])\s*$/.test(code)) {
      // A division. Continue only if no later quote or slash could be ambiguous.
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

/** Brackets contain no slash and end at the same place in every awk; the expression ends at the next unescaped slash. */
const regex = /\/(?:[^\\/[\n]|\\[^\n]|\[\^?(?![\]^])(?:[^\]\\/[\n]|\[:[a-z]+:\])+\])*\//y;
const string = /"(?:[^\\"\n]|\\[^\n])*"/y;

function endOfLiteral(source: string, start: number): number {
  const literal = source[start] === '/' ? regex : string;
  literal.lastIndex = start;
  return literal.test(source) ? literal.lastIndex - 1 : -1;
}
