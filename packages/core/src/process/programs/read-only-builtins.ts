import { unknownPart } from '../shell/command-analysis.js';
import type { Argument } from '../shell/expand-word.js';
import { nameSet } from './name-set.js';
import type { Effects } from './read-arguments.js';

/** `printf` sets variables with -v and with the conversion %n. */
export function judgePrintf(args: readonly Argument[]): Effects {
  const [format] = args[0]?.value === '--' ? args.slice(1) : args;
  if (!format?.isKnown) return { why: 'its format is only known when it runs' };
  if (format.value.startsWith('-') && args[0]?.value !== '--')
    return { why: `${format.text} is not known to be harmless` };
  return /%[^%a-zA-Z]*[hjlLtz]*n/.test(format.value) ? { why: 'the conversion %n sets a variable' } : {};
}

/** Tests that read a file's attributes. */
export const fileTests = new Set(['-e', '-f', '-d', '-r', '-w', '-x', '-s', '-L', '-h', '-a', '-nt', '-ot', '-ef']);
const otherTests = nameSet('-z -n = == != < > -eq -ne -lt -le -gt -ge ! ( ) -o ]');

/** Judges `test` and `[`. The test -v evaluates a subscript, which can run a command. */
export function judgeTest(args: readonly Argument[]): Effects {
  const parts = args.filter(({ value }, index) => !(value === ']' && index === args.length - 1));
  const odd = parts.find(isOddPart);
  if (odd) return { why: `${odd.text} is not known to be harmless in a test` };
  const unknown = parts.find(({ isKnown }) => !isKnown);
  if (unknown && !isFixedShape(parts)) return { why: `what ${unknown.text} tests is only known when it runs` };
  const isFileTest = parts.some(({ value }) => fileTests.has(value));
  return isFileTest ? { reads: parts.filter(({ value }) => !fileTests.has(value) && !otherTests.has(value)) } : {};
}

function isOddPart({ value, isOpen, isGlob }: Argument): boolean {
  const isOperator = fileTests.has(value) || otherTests.has(value) || /^-\d+$/.test(value);
  return isOpen || (value.startsWith(unknownPart) && isGlob === true) || (/^-./.test(value) && !isOperator);
}

/** `test a`, `test -n a` and `test a = b` mean the same for any text; in a longer test the text could be an operator. */
function isFixedShape(parts: readonly Argument[]): boolean {
  const [first, second, third, ...rest] = parts[0]?.value === '!' ? parts.slice(1) : parts;
  if (rest.length > 0 || !first) return false;
  if (!second) return true;
  const operator = third ? second : first;
  return operator.isKnown && (fileTests.has(operator.value) || otherTests.has(operator.value));
}
