import { unknownPart } from './command-analysis.js';
import type { Argument } from './expand-word.js';
import { here } from './program-spec.js';
import type { Effects } from './read-arguments.js';

/** Parts of a find expression that only test and print, without a value. */
const plainParts = new Set(
  (
    '-true -false -empty -daystart -depth -d -mount -xdev -noleaf -print -print0 -ls -prune -quit -o -or -a -and -not ! ( ) , ' +
    '-nouser -nogroup -readable -writable -executable -warn -nowarn -ignore_readdir_race'
  ).split(' '),
);
/** The same with a value. */
const valueParts = new Set(
  (
    '-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -mmin -atime ' +
    '-amin -ctime -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -fstype -printf -regextype -used'
  ).split(' '),
);
const fileParts = new Set(['-newer', '-anewer', '-cnewer', '-samefile']);

/** The directories find searches, and its expression. */
export function splitFind(args: readonly Argument[]): { roots: Argument[]; expression: Argument[] } {
  const start = args.findIndex(({ value }) => /^[-(!,]/.test(value));
  const at = start === -1 ? args.length : start;
  return { roots: at === 0 ? [here] : args.slice(0, at), expression: args.slice(at) };
}

/** `-name -*` may become any part of an expression. */
const isFlagPattern = (value: string) => value.startsWith('-') && value.includes(unknownPart);
const isOption = ({ value }: Argument) => value === '-P' || value === '-H';

/** Without -delete, -fprint and its like, which write, -exec and its like, judged by their command, and -L. */
export function judgeFind(args: readonly Argument[]): Effects {
  const { roots, expression } = splitFind(args.slice(args.findIndex((argument) => !isOption(argument))));
  const vague = args.find(({ value, isOpen }) => isOpen || value.startsWith(unknownPart) || isFlagPattern(value));
  if (vague) return { why: `${vague.text} could become part of the expression`, reads: roots };
  const reads = [...roots];
  for (let index = 0; index < expression.length; index++) {
    const part = expression[index];
    const value = part?.value ?? '';
    if (plainParts.has(value)) continue;
    const next = expression[++index];
    if (next && fileParts.has(value)) reads.push(next);
    else if (!next || !valueParts.has(value)) return { why: `${part?.text} is not known to be read-only`, reads };
  }
  return { reads };
}

/**
 * Whether every file found is a regular file and no link, so that reading it stays below the searched directory: a
 * plain conjunction with `-type f`.
 */
export function findsOnlyFiles(expression: readonly Argument[]): boolean {
  const values = expression.map(({ value }) => value);
  const isConjunction = !values.some((value) => ['-o', '-or', '!', '-not', ',', '(', ')'].includes(value));
  return isConjunction && values.some((value, index) => value === '-type' && values[index + 1] === 'f');
}
