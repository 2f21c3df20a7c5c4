import type { Pool } from 'pg';

const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint';
/** A wrong clock has set what ends later than a lock and what clocks may differ by. */
const shorten = `
  update bullmq.job set locked_until_ms = ${now} + $2::bigint
  where queue = $1 and state = 'active' and locked_until_ms > ${now} + $2::bigint * 4 / 3`;
/** The time of the last search. Nobody searches before it. */
const reset = `
  update bullmq.meta set value = '0' where queue = $1 and field = 'stalled-check' and value::bigint > ${now}`;
const release = `select bullmq.move_stalled_jobs_to_wait($1, $2::integer, ${now}, $3::bigint)`;

/**
 * Frees the jobs of workers that died. BullMQ would compare locks with the clock of the worker that looks, and so take
 * jobs from others if that is ahead; here the clock of the server counts.
 */
export async function releaseJobs(pool: Pool, queue: string, lockMs: number, maxDeaths: number): Promise<void> {
  await pool.query(shorten, [queue, lockMs]);
  await pool.query(reset, [queue]);
  await pool.query(release, [queue, maxDeaths, lockMs / 4]);
}
