import { visibleText } from '@lathe/core/host';
import type { FleetStatus } from '../command-line/load-fleet.js';

/** A worker reports every five seconds. */
const goneMs = 30_000;

/** The state of a fleet in lines for a terminal. */
export function describeStatus(status: FleetStatus): string {
  const { jobs, workers, runs, questions, failed, perMinute } = status;
  const count = (...names: string[]) => names.reduce((sum, name) => sum + (jobs[name] ?? 0), 0);
  const lines = [
    [
      `${count('waiting', 'prioritized')} waiting`,
      `${count('active')} running`,
      `${count('delayed', 'waiting-children')} parked`,
      `${count('completed')} ended`,
      `${count('failed')} given up`,
      ...(perMinute === undefined ? [] : [`${perMinute.toFixed(1)} per minute`]),
    ].join(', '),
    ...runs.map(({ name, total, ended, failed: errors, tokens, cents }) => {
      const cost = cents > 0 ? `, $${(cents / 100).toFixed(2)}` : '';
      return `run ${name}: ${ended} of ${total} ended, ${errors} with an error, ${tokens} tokens${cost}`;
    }),
    ...workers.map(({ name, seen, running, jobs: places }) => {
      const isGone = Date.now() - seen > goneMs;
      return `worker ${name}: ${isGone ? 'not seen for a while' : `${running} of ${places} places in use`}`;
    }),
    ...questions.map(({ id, tool, digest }) => `question ${digest.slice(0, 12)} of ${id}: ${tool}`),
    ...failed.map(
      ({ key, run, id, reason }) => `given up ${id === undefined ? key : `${id} of run ${run}`}: ${reason}`,
    ),
  ];
  return lines.map((line) => visibleText(line)).join('\n');
}
