import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fairShares } from './read-many.js';

test.each([
  ['everything fits', [10, 20, 30], 100, 5, [10, 20, 30]],
  ['small ones leave their rest to large ones', [10, 200, 300], 110, 5, [10, 50, 50]],
  ['equals get equal parts', [100, 100, 100], 90, 5, [30, 30, 30]],
  ['the last find no room', [100, 100, 100], 20, 10, [10, 10, undefined]],
  ['nothing to share', [], 100, 10, []],
])('%s', (_, sizes, budget, least, expected) => {
  expect(fairShares(sizes, budget, least)).toEqual(expected);
});

test('shares stay within the budget and never below what is useful', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5000)), fc.nat(20_000), fc.integer({ min: 1, max: 500 }), (sizes, budget, least) => {
      const shares = fairShares(sizes, budget, least);
      const served = shares.filter((share) => share !== undefined);
      expect(served.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(budget);
      for (const [index, share] of served.entries()) {
        expect(share).toBeGreaterThanOrEqual(Math.min(sizes[index] ?? 0, least));
        expect(share).toBeLessThanOrEqual(sizes[index] ?? 0);
      }
    }),
  );
});
