import { expect, test } from 'vitest';
import { Slots } from './slots.js';

const never = new AbortController().signal;

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test('no more than the limit work at once, and all get their turn in order', async () => {
  const slots = new Slots(2);
  let working = 0;
  let most = 0;
  const order: number[] = [];
  const work = (n: number) =>
    slots.use(never, async () => {
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

test('who gives up while waiting takes nobody’s place', async () => {
  const slots = new Slots(1);
  const { open, opened } = gate();
  const first = slots.use(never, () => opened);
  const controller = new AbortController();
  const second = slots.use(controller.signal, async () => 'second');
  const third = slots.use(never, async () => 'third');
  controller.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  open();
  await first;
  expect(await third).toBe('third');
  expect(await slots.use(never, async () => 'fourth')).toBe('fourth');
});
