import { appendFileSync } from 'node:fs';

/** Whether the long variants run: `npm run test:long`. */
export const isLong = process.env['LATHE_LONG'] === '1';

/** What random choices grow from. A failure names it; set `LATHE_SEED` to it and the same happens again. */
export const seed = Number(process.env['LATHE_SEED'] ?? Date.now() % 1_000_000_000);

/** A line for the summary of `npm run test:long`: what ran, how often, and what else is worth knowing. */
export function report(suite: string, count: number, facts: Record<string, number | string> = {}): void {
  const file = process.env['LATHE_LONG_SUMMARY'];
  if (file) appendFileSync(file, `${JSON.stringify({ suite, count, ...facts })}\n`);
}
