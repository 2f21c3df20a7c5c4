import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { cutLine, cutStart, lineWidth, wrapLines } from './lines.js';

test('every character is as wide as it is known to be', () => {
  const wrong: string[] = [];
  for (let code = 0x20; code < 0x3000; code++) {
    const character = String.fromCharCode(code);
    if (lineWidth(`a${character}`) !== stringWidth(`a${character}`)) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

test('SF08: no line is wider than there is room, and nothing is lost but what is cut', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 4, max: 30 }), (text, width) => {
      const line = text.replaceAll(/[\n\p{Cc}]/gu, '');
      for (const shown of [...wrapLines(line, width), cutLine(line, width), cutStart(line, width)])
        expect(stringWidth(shown)).toBeLessThanOrEqual(width);
      expect(wrapLines(line, width).join('').normalize()).toBe(line.normalize());
    }),
    { numRuns: 500, seed: 3 },
  );
});

test.each([
  ['src/a/very/long/path.ts', 10, '…g/path.ts'],
  ['short', 10, 'short'],
  ['漢字漢字漢字', 6, '…漢字'],
])('the end of %s stays', (text, width, expected) => {
  expect(cutStart(text, width)).toBe(expected);
});
