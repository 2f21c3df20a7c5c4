import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Top } from './top.js';

test.each([
  ['added', false],
  ['skipped when they come after the last one', true],
])('the first items of any sequence are those of the sorted whole, if all are %s', (_, isSkipping) => {
  const sequence = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 2000 });
  fc.assert(
    fc.property(sequence, fc.integer({ min: 1, max: 50 }), (numbers, limit) => {
      const top = new Top<number>(limit, (a, b) => a - b);
      for (const number of numbers) {
        if (isSkipping && top.last !== undefined && number > top.last) top.skip();
        else top.add(number);
      }
      expect(top.items()).toEqual(numbers.toSorted((a, b) => a - b).slice(0, limit));
      expect(top.count).toBe(numbers.length);
    }),
  );
});
