import { unknownPart } from '../shell/command-analysis.js';
import type { Argument } from '../shell/expand-word.js';
import { seeksSecret } from '../shell/secret-trees.js';
import { nameSet } from './name-set.js';
import { type Effects, here } from './read-arguments.js';

/** Parts of a find expression that only test, without a value. */
const plainTests = nameSet(
  '-true -false -empty -daystart -depth -d -mount -xdev -noleaf -prune -quit -a -and ' +
    '-nouser -nogroup -readable -writable -executable -warn -nowarn -ignore_readdir_race',
);
/** The same with a value. */
const valueTests = nameSet(
  '-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -mmin -atime ' +
    '-amin -ctime -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -fstype -regextype -used -newermt',
);
const nameTests = nameSet('-name -iname -path -ipath -wholename -iwholename');
const regexTests = nameSet('-regex -iregex');
/** `.*\.(c|h)`. Any other expression may match the names of secrets. */
const plainEnding = /^\.\*\\?\.[\w()|\\]+$/;
const fileTests = nameSet('-newer -anewer -cnewer -samefile');
/** With these, find may act on a file that does not pass every test. */
const branches = nameSet('-o -or -not ! ( ) ,');
const prints = nameSet('-print -print0 -ls');

const isPlainPart = (value: string) => plainTests.has(value) || branches.has(value) || prints.has(value);
const takesText = (value: string) => valueTests.has(value) || value === '-printf';

/** Splits the arguments of find into the directories that it searches and the expression. */
export function splitFind(given: readonly Argument[]): { roots: Argument[]; expression: Argument[] } {
  const args = given.slice(given.findIndex((argument) => !isOption(argument)));
  const start = args.findIndex(({ value }) => /^[-(!,]/.test(value));
  const at = start === -1 ? args.length : start;
  return { roots: at === 0 ? [here] : args.slice(0, at), expression: args.slice(at) };
}

/** In `-name -*`, the pattern may expand to any part of an expression. */
const isFlagPattern = (value: string) => value.startsWith('-') && value.includes(unknownPart);
const isOption = ({ value }: Argument) => value === '-P' || value === '-H';

/** Without -delete and the -fprint family, which write; the -exec family, judged by its command; and -L. */
export function judgeFind(args: readonly Argument[]): Effects {
  const { roots, expression } = splitFind(args);
  const vague = args.find(({ value, isOpen }) => isOpen || value.startsWith(unknownPart) || isFlagPattern(value));
  if (vague) return { why: `${vague.text} could become part of the expression`, reads: roots };
  // Some versions of find take it as a path, others do not.
  if (expression[0]?.value === ',') return { why: 'it starts with a comma', reads: roots };
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

/** Whether each part of an expression acts exactly on the files that pass all tests before it. */
export function isConjunction(expression: readonly Argument[]): boolean {
  return !expression.some(({ value }) => branches.has(value));
}

/**
 * Whether only regular files pass this start of an expression: no symlinks, so that reading them stays below the searched
 * directory. The start must contain only tests, `-type f` among them, and no test for the name of a secret.
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
  // In a path, a star also matches slashes.
  return value.includes(unknownPart) || [value, value.replace(/^.*\*/s, '*')].some(seeksSecret);
}
