import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainText } from './visible-text.js';

test.each([
  ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
  ['a title', '\u001b]0;evil title\u0007text', 'text'],
  ['a link', '\u001b]8;;http://x\u001b\\label\u001b]8;;\u001b\\', 'label'],
  ['an unfinished title', 'a\u001b]0;never ends\nnext', 'a\nnext'],
  ['a C1 sequence', '\u009b31mred', 'red'],
  ['a progress bar', '10%\r50%\r100%\ndone', '100%\ndone'],
  ['a progress bar that ends in CR', '10%\r50%\r', '50%'],
  ['Windows line ends', 'a\r\nb\r\n', 'a\nb\n'],
  ['overstrike', 'N\bNA\bAM\bME\bE', 'NAME'],
  ['bells and NULs', 'a\u0007b\u0000c', 'abc'],
  ['tabs stay', 'a\tb', 'a\tb'],
])('%s', (_, raw, plain) => {
  expect(plainText(raw)).toBe(plain);
});

test('no control character except tab and newline is left in any string', () => {
  const nasty = fc.array(
    fc.constantFrom('\u001b', '[', ']', '0', ';', 'm', '\u0007', '\\', '\r', '\b', '\n', 'é', '\u009b', 'P'),
  );
  fc.assert(
    fc.property(nasty, (parts) => {
      expect(plainText(parts.join(''))).not.toMatch(/(?![\n\t])\p{Cc}/u);
    }),
  );
});

test('a megabyte of escape characters is processed quickly', () => {
  expect(plainText('\u001b]'.repeat(500_000))).toBe('');
  expect(plainText('\u001b[;'.repeat(300_000))).not.toContain('\u001b');
});
