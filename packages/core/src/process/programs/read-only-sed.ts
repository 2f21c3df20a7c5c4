import type { Argument } from '../shell/expand-word.js';
import { type Effects, flagList, sortArguments } from './read-arguments.js';

const flags = flagList(
  '-nErsuz -e: --quiet --silent --regexp-extended --expression= --separate --unbuffered --null-data --line-length= ' +
    '--posix --sandbox --help --version',
);

/** Longer ones are not read: what reads them takes more than linear time on hostile text. */
const maxScript = 2_000;

/** Without -i, which writes, and -f; scripts only of commands that neither run, read nor write files. */
export function judgeSed(args: readonly Argument[]): Effects {
  const sorted = sortArguments(args, flags);
  if (typeof sorted === 'string') return { why: sorted };
  // To some seds the first operand ends the flags, and is the script.
  const [first] = sorted.operands;
  const isLate = first !== undefined && args.slice(args.indexOf(first)).some(({ value }) => /^-./.test(value));
  if (isLate) return { why: 'a flag comes after the first operand', reads: sorted.operands };
  const given = sorted.values.filter(({ flag }) => flag === '-e' || flag === '--expression').map(({ value }) => value);
  const [scripts, files] =
    given.length > 0 ? [given, sorted.operands] : [sorted.operands.slice(0, 1), sorted.operands.slice(1)];
  const reads = files.filter(({ value }) => value !== '-');
  const isPlain = scripts.every(({ value, isKnown }) => isKnown && value.length <= maxScript && isPlainScript(value));
  // Whatever stands before --sandbox is not in the sandbox, so the flag proves nothing.
  return isPlain ? { reads } : { why: 'its script may do more than print', reads };
}

/** Only such as every sed takes to end at the same place: not `[^]x]`, `[[:x]`, `[\]]` nor with a slash in them. */
const brackets = String.raw`\[\^?(?![\]^])(?:[^\]\\/[\n]|\[:[a-z]+:\]|\\[nt])+\]`;
const plainPattern = new RegExp(String.raw`^(?:[^\\[\n]|\\[^\n]|${brackets})*$`);

/** One command: addresses, then what it does. Commands that take a file name or run something are not in it. */
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

/** Where `s/a/b/flags` ends; -1 unless its flags only print. */
function endOfSubstitution(script: string, start: number): number {
  const delimiter = script[start + 1];
  if (delimiter === undefined || /[\\\n\s\w]/.test(delimiter)) return -1;
  let at = start + 2;
  for (let part = 0; part < 2; part++) {
    const from = at;
    while (at < script.length && script[at] !== delimiter) at += script[at] === '\\' ? 2 : 1;
    if (at >= script.length) return -1;
    // Inside brackets sed may not take the delimiter for the end.
    if (part === 0 && !plainPattern.test(script.slice(from, at))) return -1;
    at++;
  }
  const found = /^[gpiImM\d]*/.exec(script.slice(at));
  return at + (found?.[0].length ?? 0);
}
