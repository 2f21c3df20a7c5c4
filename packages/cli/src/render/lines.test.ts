import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { choiceLines } from '../screen/choice-list.js';
import { lineWidth, truncateLine, truncateStart, wrapLines } from './lines.js';
import { styleFor } from './style.js';

test('characters have their known widths', () => {
  const wrong: string[] = [];
  for (let code = 0x20; code < 0x3000; code++) {
    const character = String.fromCharCode(code);
    if (lineWidth(`a${character}`) !== stringWidth(`a${character}`)) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

test('SF08: no line exceeds the width, and only truncation loses text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 4, max: 30 }), (text, width) => {
      const line = text.replaceAll(/[\n\p{Cc}]/gu, '');
      for (const shown of [...wrapLines(line, width), truncateLine(line, width), truncateStart(line, width)])
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
])('the end of %s is kept', (text, width, expected) => {
  expect(truncateStart(text, width)).toBe(expected);
});

test('a long detail of a choice continues below its beginning', () => {
  const style = styleFor({ NO_COLOR: '1' });
  const choices = [{ label: 'One', detail: 'a detail that is long' }, { label: 'Second' }];
  const lines = choiceLines(choices, 0, { style, width: 24, rows: 9, isNumbered: true });
  expect(lines).toEqual(['❯ 1  One  a detail that ', '          is long', '  2  Second']);
});
