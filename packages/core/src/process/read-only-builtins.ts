import type { Argument } from './expand-word.js';
import type { Effects } from './read-arguments.js';

/** `printf` sets variables with -v and with the conversion %n. */
export function judgePrintf(args: readonly Argument[]): Effects {
  const [format] = args[0]?.value === '--' ? args.slice(1) : args;
  if (!format?.isKnown) return { why: 'its format is only known when it runs' };
  if (format.value.startsWith('-') && args[0]?.value !== '--')
    return { why: `${format.text} is not known to be harmless` };
  return /%[^%a-zA-Z]*n/.test(format.value) ? { why: 'the conversion %n sets a variable' } : {};
}

const fileTests = new Set(['-e', '-f', '-d', '-r', '-w', '-x', '-s', '-L', '-h', '-nt', '-ot', '-ef']);
const otherTests = new Set([
  '-z',
  '-n',
  '=',
  '==',
  '!=',
  '<',
  '>',
  '-eq',
  '-ne',
  '-lt',
  '-le',
  '-gt',
  '-ge',
  '!',
  '(',
  ')',
  '-a',
  '-o',
  ']',
]);

/** `test` and `[`. The test -v evaluates a subscript, which can run a command. */
export function judgeTest(args: readonly Argument[]): Effects {
  const odd = args.find(
    ({ value, isOpen }) =>
      isOpen || (/^-./.test(value) && !fileTests.has(value) && !otherTests.has(value) && !/^-\d+$/.test(value)),
  );
  if (odd) return { why: `${odd.text} is not known to be harmless in a test` };
  // An operand that could turn out to be the operator -v would change the meaning of its neighbours.
  const isFileTest = args.some(({ value }) => fileTests.has(value));
  const unknown = args.filter(({ isKnown }) => !isKnown);
  if (unknown.length > 0 && (isFileTest || args.length > 4))
    return { why: `${unknown[0]?.text} is only known when it runs` };
  return isFileTest ? { reads: args.filter(({ value }) => !fileTests.has(value) && !otherTests.has(value)) } : {};
}
