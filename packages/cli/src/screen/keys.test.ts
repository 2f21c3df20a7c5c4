import { expect, test } from 'vitest';
import { KeySplitter } from './key-stream.js';
import { keyOf } from './keys.js';

/** The names of the key and its modifiers, and the text. */
const told = (sent: string) => {
  const { input, key } = keyOf(sent);
  const names = Object.entries(key).flatMap(([name, isSo]) => (isSo ? [name] : []));
  return [...names, ...(input === '' ? [] : [input])].join(' ');
};

test.each([
  ['a', 'a'],
  ['A', 'shift A'],
  ['é', 'é'],
  ['hello', 'hello'],
  ['\r', 'return'],
  ['\n', '\n'],
  ['\t', 'tab'],
  ['\b', 'backspace'],
  ['\u0003', 'ctrl c'],
  ['\u001b', 'escape'],
  ['\u001b\u001b', 'escape meta'],
  ['\u001b\r', 'return meta'],
  ['\u001b\b', 'backspace meta'],
  ['\u001bb', 'meta b'],
  ['\u001b[A', 'upArrow'],
  ['\u001bOA', 'upArrow'],
  ['\u001b\u001b[A', 'upArrow meta'],
  ['\u001b[1;5C', 'rightArrow ctrl'],
  ['\u001b[1;3D', 'leftArrow meta'],
  ['\u001b[Z', 'tab shift'],
  ['\u001b[H', 'home'],
  ['\u001b[4~', 'end'],
  ['\u001b[3~', 'delete'],
  ['\u001b[5~', 'pageUp'],
  ['\u001b[6;5~', 'pageDown ctrl'],
  ['\u001b[13;2u', 'return shift'],
  ['\u001b[99;5u', 'ctrl c'],
  ['\u001b[27u', 'escape'],
  // Unknown keys produce no text.
  ['\u001b[15~', ''],
  ['\u001bOP', ''],
  ['\u001b[I', ''],
  ['\u001b[999999999u', ''],
  ['\u0000', ''],
  ['\u001c', ''],
])('%j is %s', (sent, expected) => {
  expect(told(sent)).toBe(expected);
});

test('keys that arrive together are separated', () => {
  const sent = '\u001b[A\u001b[Bab\r\u001b\u001b[C\u001bOD\u001bx\u001b[1;5C\u0003\u001b';
  expect(new KeySplitter().split(sent).map(told)).toEqual([
    'upArrow',
    'downArrow',
    'ab',
    'return',
    'rightArrow meta',
    'leftArrow',
    'meta x',
    'rightArrow ctrl',
    'ctrl c',
    'escape',
  ]);
});
