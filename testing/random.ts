import { randomFrom } from './command-generator.js';

/** For tests that do the same every time unless `LATHE_SEED` is set, as it is in long runs. */
export const usualSeed = Number(process.env['LATHE_SEED'] ?? 1);

/** Whole numbers below a bound, which a seed repeats. */
export function randomBelow(seed: number): (below: number) => number {
  const random = randomFrom(seed);
  return (below) => Math.floor(random() * below);
}
