import { unknownPart } from '../shell/command-analysis.js';
import type { Argument } from '../shell/expand-word.js';
import { seeksSecret } from '../shell/secret-trees.js';
import { here } from './program-spec.js';
import type { Effects } from './read-arguments.js';

/** Parts of a find expression that only test, without a value. */
const plainTests = new Set(
  (
    '-true -false -empty -daystart -depth -d -mount -xdev -noleaf -prune -quit -a -and ' +
    '-nouser -nogroup -readable -writable -executable -warn -nowarn -ignore_readdir_race'
  ).split(' '),
);
/** The same with a value. */
const valueTests = new Set(
  (
    '-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -mmin -atime ' +
    '-amin -ctime -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -fstype -regextype -used -newermt'
  ).split(' '),
);
const nameTests = new Set('-name -iname -path -ipath -wholename -iwholename'.split(' '));
const regexTests = new Set(['-regex', '-iregex']);
/** `.*\.(c|h)`: any other expression may be one for the names of secrets. */
const plainEnding = /^\.\*\\?\.[\w()|\\]+$/;
const fileTests = new Set(['-newer', '-anewer', '-cnewer', '-samefile']);
/** With these a file may be acted on that not every test holds for. */
const branches = new Set(['-o', '-or', '-not', '!', '(', ')', ',']);
const prints = new Set(['-print', '-print0', '-ls']);

const isPlainPart = (value: string) => plainTests.has(value) || branches.has(value) || prints.has(value);
const takesText = (value: string) => valueTests.has(value) || value === '-printf';

/** The directories find searches, and its expression. */
export function splitFind(given: readonly Argument[]): { roots: Argument[]; expression: Argument[] } {
  const args = given.slice(given.findIndex((argument) => !isOption(argument)));
  const start = args.findIndex(({ value }) => /^[-(!,]/.test(value));
  const at = start === -1 ? args.length : start;
  return { roots: at === 0 ? [here] : args.slice(0, at), expression: args.slice(at) };
}

/** `-name -*` may become any part of an expression. */
const isFlagPattern = (value: string) => value.startsWith('-') && value.includes(unknownPart);
const isOption = ({ value }: Argument) => value === '-P' || value === '-H';

/** Without -delete, -fprint and its like, which write, -exec and its like, judged by their command, and -L. */
export function judgeFind(args: readonly Argument[]): Effects {
  const { roots, expression } = splitFind(args);
  const vague = args.find(({ value, isOpen }) => isOpen || value.startsWith(unknownPart) || isFlagPattern(value));
  if (vague) return { why: `${vague.text} could become part of the expression`, reads: roots };
  // To some a path, to others not.
  if (expression[0]?.value === ',') return { why: 'it begins with a comma', reads: roots };
  const reads = [...roots];
  for (let index = 0; index < expression.length; index++) {
    const part = expression[index];
    const value = part?.value ?? '';
    if (isPlainPart(value)) continue;
    const next = expression[++index];
    if (next && fileTests.has(value)) reads.push(next);
    else if (!next || !takesText(value)) return { why: `${part?.text} is not known to be read-only`, reads };
  }
  return { reads };
}

/** Whether the rest of an expression acts on every file that its start lets through, and on no other. */
export function isConjunction(expression: readonly Argument[]): boolean {
  return !expression.some(({ value }) => branches.has(value));
}

/**
 * Whether what comes after this start of an expression sees nothing but regular files, no links, so that reading them
 * stays below the searched directory: tests alone, which print and run nothing, `-type f` among them, none for the name
 * of a secret.
 */
export function findsOnlyFiles(start: readonly Argument[]): boolean {
  let isFile = false;
  for (let index = 0; index < start.length; index++) {
    const value = start[index]?.value ?? '';
    if (plainTests.has(value)) continue;
    if (!valueTests.has(value) && !fileTests.has(value)) return false;
    const next = start[++index]?.value ?? '';
    isFile ||= value === '-type' && next === 'f';
    if (maySeekSecret(value, next)) return false;
  }
  return isFile;
}

function maySeekSecret(test: string, value: string): boolean {
  if (regexTests.has(test)) return !plainEnding.test(value);
  if (!nameTests.has(test)) return false;
  // In a path a star stands for slashes too.
  return value.includes(unknownPart) || [value, value.replace(/^.*\*/s, '*')].some(seeksSecret);
}
