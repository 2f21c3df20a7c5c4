import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputRing } from './captured-output.js';

test('head and tail equal those of a full copy, for any chunks', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });
  fc.assert(
    fc.property(chunks, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 30 }), (list, head, tail) => {
      const ring = new OutputRing(head, tail);
      for (const chunk of list) ring.push(chunk);
      const all = Buffer.concat(list);
      const rest = all.subarray(head);
      expect(ring.totalBytes).toBe(all.length);
      expect([...ring.head()]).toEqual([...all.subarray(0, head)]);
      expect([...ring.tail()]).toEqual([...rest.subarray(Math.max(0, rest.length - tail))]);
      expect(ring.omittedBytes).toBe(Math.max(0, rest.length - tail));
      const end = Math.min(tail, 7);
      expect([...ring.end(end)]).toEqual([...all.subarray(Math.max(0, all.length - end))]);
    }),
  );
});
