import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentHash, SeenFiles } from './seen-files.js';

const [a, b] = [contentHash(Buffer.from('a')), contentHash(Buffer.from('b'))];

test('only the content that was seen last is known', () => {
  const seen = new SeenFiles();
  expect(seen.knowledgeOf('/f', a) === 'all').toBe(false);
  seen.record('/f', a);
  expect(seen.knowledgeOf('/f', a) === 'all').toBe(true);
  expect(seen.knowledgeOf('/g', a) === 'all').toBe(false);
  seen.record('/f', b);
  expect([seen.knowledgeOf('/f', a) === 'all', seen.knowledgeOf('/f', b) === 'all']).toEqual([false, true]);
});

test('parts make a whole when they cover it, in any order', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.tuple(fc.nat(30), fc.nat(30)), { maxLength: 12 }),
      (total, parts) => {
        const seen = new SeenFiles();
        const lines = new Set<number>();
        for (const [first, length] of parts) {
          seen.recordLines('/f', a, { first, next: first + length }, total);
          for (let line = first; line < Math.min(total, first + length); line++) lines.add(line);
        }
        expect(seen.knowledgeOf('/f', a) === 'all').toBe(lines.size === total);
      },
    ),
  );
});

test('parts of different contents do not add up', () => {
  const seen = new SeenFiles();
  seen.recordLines('/f', a, { first: 0, next: 5 }, 10);
  seen.recordLines('/f', b, { first: 5, next: 10 }, 10);
  expect([seen.knowledgeOf('/f', a) === 'all', seen.knowledgeOf('/f', b) === 'all']).toEqual([false, false]);
});

test('the oldest are forgotten first', () => {
  const seen = new SeenFiles();
  for (let count = 0; count <= 10_000; count++) seen.record(`/${count}`, a);
  expect([
    seen.knowledgeOf('/0', a) === 'all',
    seen.knowledgeOf('/1', a) === 'all',
    seen.knowledgeOf('/10000', a) === 'all',
  ]).toEqual([false, true, true]);
});
