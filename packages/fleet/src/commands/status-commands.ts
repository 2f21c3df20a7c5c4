import { setTimeout as pause } from 'node:timers/promises';
import { attempt } from '@lathe/core/host';
import { openQuestions } from '../follow.js';
import type { Job } from '../job/job.js';
import { clockProblem } from '../queue/clock.js';
import { defaultLockMs } from '../queue/engine.js';
import { flagsOf, texts } from './flags.js';
import type { FleetIo } from './io.js';
import { common, type Fleet, withFleet } from './open-fleet.js';

const refreshMs = 1_000;
/** A worker that has not been seen for this long is left out. */
const forgottenMs = 3600_000;
const maxRuns = 10;
const maxFailed = 50;
const states = ['waiting', 'prioritized', 'active', 'delayed', 'waiting-children', 'completed', 'failed'] as const;

export type FleetStatus = Awaited<ReturnType<typeof readStatus>> & { perMinute?: number };

/** Calls `show` with the state of a team's queue; with `isLive` again and again until `signal` aborts. */
export function followStatus(
  args: readonly string[],
  io: FleetIo,
  show: (status: FleetStatus) => void,
  { isLive, signal }: { isLive: boolean; signal: AbortSignal },
): Promise<void> {
  const { values } = flagsOf([...args], { ...common, ...texts('team') });
  return withFleet(values, io, async (fleet) => {
    const startedAt = performance.now();
    let first: number | undefined;
    while (!signal.aborted) {
      const status = await readStatus(fleet, values.team ?? 'default');
      const ended = status.jobs['completed'] ?? 0;
      const minutes = (performance.now() - startedAt) / 60_000;
      show({ ...status, ...(first !== undefined && { perMinute: (ended - first) / minutes }) });
      first ??= ended;
      if (!isLive) return;
      await pause(refreshMs, undefined, { signal }).catch(() => undefined);
    }
  });
}

async function readStatus({ engine, board, keys }: Fleet, team: string) {
  const queue = engine.queue(team);
  const read = async <T>(group: string): Promise<(T & { name: string })[]> => {
    const names = await board.fields(group);
    const stored = await Promise.all(names.map((name) => board.get(group, name)));
    // Anybody who reaches the server may have written it.
    return names.map((name, at) => ({ ...attempt(() => JSON.parse(stored[at] ?? '')), name }));
  };
  const workers = await read<{ seen: number; running: number; jobs: number; teams: string[] }>('workers');
  const runs = await read<{ team: string; total: number; at: number }>('runs');
  const latest = runs.filter((run) => run.team === team).sort((a, b) => b.at - a.at);
  const spent = async (run: string, what: string) => Number((await board.get(`spent/${run}`, what)) ?? 0);
  return {
    jobs: await queue.getJobCounts(...states),
    clockProblem: await clockProblem(board, defaultLockMs),
    workers: workers.filter(
      ({ seen, teams }) => Array.isArray(teams) && teams.includes(team) && Date.now() - seen < forgottenMs,
    ),
    runs: await Promise.all(
      latest.slice(0, maxRuns).map(async ({ name, total }) => ({
        name,
        total,
        ended: (await board.fields(`results/${name}`)).length,
        failed: await spent(name, 'failed'),
        tokens: await spent(name, 'tokens'),
        cents: await spent(name, 'cost'),
      })),
    ),
    questions: (await openQuestions({ board, keys })).filter((question) => question.team === team),
    failed: (await queue.getJobs(['failed'], 0, maxFailed - 1)).map(({ id, data, failedReason }) => {
      const job = keys.read<Job>('job', JSON.stringify(data))?.value;
      return { key: id, run: job?.run, id: job?.id, reason: failedReason };
    }),
  };
}
