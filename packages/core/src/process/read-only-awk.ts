import type { Argument } from './expand-word.js';
import { type Effects, flagList, sortArguments } from './read-arguments.js';

const flags = flagList('-F: -v: --field-separator= --assign= --version +');

/** Longer ones are not read: what reads them takes more than linear time on hostile text. */
const maxProgram = 2_000;

/** Without -f and extensions; programs that can neither run a command nor open a file by name. */
export function judgeAwk(args: readonly Argument[]): Effects {
  const sorted = sortArguments(args, flags);
  if (typeof sorted === 'string') return { why: sorted };
  const [program, ...files] = sorted.operands;
  const reads = files.filter(({ value }) => value !== '-' && !/^[A-Za-z_]\w*=/.test(value));
  if (program === undefined) return {};
  if (program.isKnown && program.value.length <= maxProgram && isPlainProgram(program.value)) return { reads };
  return { why: 'its program may do more than print', reads };
}

/** Whether an awk program has no redirection, pipe, system(), getline or extension, and leaves the list of files alone. Where the lexing is in doubt: no. */
function isPlainProgram(source: string): boolean {
  const code = withoutLiterals(source);
  if (code === undefined) return false;
  if (/\b(system|getline|close|fflush|include|load|ARGV|ARGC|SYMTAB|FUNCTAB|PROCINFO)\b|@/.test(code)) return false;
  if (code.replaceAll('||', '').includes('|')) return false;
  return !redirects(code);
}

/** A `>` compares in a pattern or without a print statement; in a print statement it writes a file. */
function redirects(code: string): boolean {
  let depth = 0;
  for (const character of code) {
    if (character === '{') depth++;
    if (character === '}') depth--;
    if (character === '>' && depth > 0 && /\bprint/.test(code)) return true;
  }
  return false;
}

/** The program with strings and regular expressions emptied; `undefined` when a slash could be either. */
function withoutLiterals(source: string): string | undefined {
  let code = '';
  for (let at = 0; at < source.length; at++) {
    const character = source[at] ?? '';
    if (character === '#') return undefined;
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

function endOfLiteral(source: string, start: number): number {
  const quote = source[start];
  for (let at = start + 1; at < source.length; at++) {
    if (source[at] === '\n') return -1;
    // A bracket may hold a slash that does not end the expression.
    if (quote === '/' && source[at] === '[' && /^\[[^\]]*\//.test(source.slice(at))) return -1;
    if (source[at] === quote) return at;
    if (source[at] === '\\') at++;
  }
  return -1;
}
