import type { Argument } from '../shell/expand-word.js';
import { type Effects, flagList, sortArguments } from './read-arguments.js';

const flags = flagList(
  '-nErsuz -e: --quiet --silent --regexp-extended --expression= --separate --unbuffered --null-data --line-length= ' +
    '--posix --sandbox --help --version',
);

/** Longer scripts are not parsed, because hostile text would take more than linear time. */
const maxScript = 2_000;

/** Proves scripts whose commands neither run a program nor read or write files. Without -f, and -i, which writes. */
export function judgeSed(args: readonly Argument[]): Effects {
  const sorted = sortArguments(args, flags);
  if (typeof sorted === 'string') return { why: sorted };
  // In some versions of sed the first operand ends the flags and is the script.
  const [first] = sorted.operands;
  const isLate = first !== undefined && args.slice(args.indexOf(first)).some(({ value }) => /^-./.test(value));
  if (isLate) return { why: 'a flag comes after the first operand', reads: sorted.operands };
  const given = sorted.values.filter(({ flag }) => flag === '-e' || flag === '--expression').map(({ value }) => value);
  const [scripts, files] =
    given.length > 0 ? [given, sorted.operands] : [sorted.operands.slice(0, 1), sorted.operands.slice(1)];
  const reads = files.filter(({ value }) => value !== '-');
  const isPlain = scripts.every(({ value, isKnown }) => isKnown && value.length <= maxScript && isPlainScript(value));
  // --sandbox does not apply to scripts before it, so the flag proves nothing.
  return isPlain ? { reads } : { why: 'its script may do more than print', reads };
}

/** Brackets that end at the same place in every sed: not `[^]x]`, `[[:x]` or `[\]]`, and no slash in them. */
const brackets = String.raw`\[\^?(?![\]^])(?:[^\]\\/[\n]|\[:[a-z]+:\]|\\[nt])+\]`;
const plainPattern = new RegExp(String.raw`^(?:[^\\[\n]|\\[^\n]|${brackets})*$`);

/** One command: addresses, then the action. Without commands that take a file name or run a program. */
const address = String.raw`(?:\d+(?:~\d+)?|\$|\/(?:[^\\/\n[]|\\[^\n]|${brackets})*\/[IM]*|[+~]\d+)`;
const addresses = new RegExp(String.raw`[\s;]*(?:${address}(?:\s*,\s*${address})?)?\s*!?\s*`, 'y');
const simple = /[{}=dDgGhHlnNpPxzF]|[qQ][ \t]*\d*|[btT:][ \t]*[\w-]*/y;
const end = /\s*(?:;|\n|$|(?=\}))|(?<=\{)/y;

function isPlainScript(script: string): boolean {
  let at = 0;
  const take = (expression: RegExp): boolean => {
    expression.lastIndex = at;
    const found = expression.exec(script);
    if (found) at = expression.lastIndex;
    return found !== null;
  };
  while (at < script.length) {
    take(addresses);
    if (at >= script.length) return true;
    const isSubstitution = script[at] === 's' || script[at] === 'y';
    if (isSubstitution) at = endOfSubstitution(script, at);
    else if (!take(simple)) return false;
    if (at < 0 || !take(end)) return false;
  }
  return true;
}

/** The end of `s/a/b/flags`; -1 if its flags may do more than print. */
function endOfSubstitution(script: string, start: number): number {
  const delimiter = script[start + 1];
  if (delimiter === undefined || /[\\\n\s\w]/.test(delimiter)) return -1;
  let at = start + 2;
  for (let part = 0; part < 2; part++) {
    const from = at;
    while (at < script.length && script[at] !== delimiter) at += script[at] === '\\' ? 2 : 1;
    if (at >= script.length) return -1;
    // Inside brackets, the delimiter may not be the end for sed.
    if (part === 0 && !plainPattern.test(script.slice(from, at))) return -1;
    at++;
  }
  const found = /^[gpiImM\d]*/.exec(script.slice(at));
  return at + (found?.[0].length ?? 0);
}
