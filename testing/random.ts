/** A random number generator that a seed repeats. */
export type Random = () => number;

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

export function chance(random: Random, probability: number): boolean {
  return random() < probability;
}

/** For tests that do the same every time unless `LATHE_SEED` is set, as it is in long runs. */
export const usualSeed = Number(process.env['LATHE_SEED'] ?? 1);

/** Whole numbers below a bound, which a seed repeats. */
export function randomBelow(seed: number): (below: number) => number {
  const random = randomFrom(seed);
  return (below) => Math.floor(random() * below);
}
