import { expect, test } from 'vitest';
import { ConcurrencyLimit } from './concurrency-limit.js';

const never = new AbortController().signal;

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test('no more tasks than the limit run at once, and all run in order', async () => {
  const limit = new ConcurrencyLimit(2);
  let working = 0;
  let most = 0;
  const order: number[] = [];
  const work = (n: number) =>
    limit.run(never, async () => {
      order.push(n);
      most = Math.max(most, ++working);
      await new Promise((resolve) => setImmediate(resolve));
      working -= 1;
      if (n === 3) throw new Error('3 fails');
    });
  const outcomes = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6].map(work));
  expect(outcomes.map(({ status }) => status).indexOf('rejected')).toBe(3);
  expect({ most, order }).toEqual({ most: 2, order: [0, 1, 2, 3, 4, 5, 6] });
});

test('an abort while waiting frees the place in the queue', async () => {
  const limit = new ConcurrencyLimit(1);
  const { open, opened } = gate();
  const first = limit.run(never, () => opened);
  const controller = new AbortController();
  const second = limit.run(controller.signal, async () => 'second');
  const third = limit.run(never, async () => 'third');
  controller.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  open();
  await first;
  expect(await third).toBe('third');
  expect(await limit.run(never, async () => 'fourth')).toBe('fourth');
});

test('a task that ends at the moment of an abort passes its place on to one that still waits', async () => {
  const limit = new ConcurrencyLimit(1);
  const { open, opened } = gate();
  const first = limit.run(never, () => opened);
  const controller = new AbortController();
  const second = limit.run(controller.signal, async () => 'second');
  const third = limit.run(never, async () => 'third');
  open();
  controller.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  await first;
  expect(await third).toBe('third');
});
