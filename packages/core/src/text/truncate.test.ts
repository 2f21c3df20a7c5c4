import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keepEnds } from './truncate.js';

test('the end is kept longer than the beginning, cut between lines', () => {
  const text = Array.from({ length: 1000 }, (_, n) => `line ${n}`).join('\n');
  const { head, tail, omitted } = keepEnds(text, 1000);
  expect(head.split('\n').at(-1)).toMatch(/^line \d+$/);
  expect(tail.split('\n')[0]).toMatch(/^line \d+$/);
  expect(tail.endsWith('line 999')).toBe(true);
  expect(tail.length).toBeGreaterThan(3 * head.length);
  expect(head.length + omitted + tail.length).toBe(text.length);
});

test('no character is split and nothing is counted twice', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme-composite', minLength: 50, maxLength: 400 }),
      fc.integer({ min: 10, max: 49 }),
      (text, limit) => {
        const { head, tail, omitted } = keepEnds(text, limit);
        expect(/\p{Cs}/u.test(head + tail)).toBe(false);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(head.length + omitted + tail.length).toBe(text.length);
      },
    ),
  );
});
