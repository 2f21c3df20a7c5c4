import type { Io } from '../command-line/io.js';
import { fleetPackage, loadFleet } from '../command-line/load-fleet.js';
import type { Finding } from './finding.js';

/** Whether the queue of a fleet can be reached, for those who have set one. */
export async function fleetQueue(_lathe: unknown, io: Io, signal: AbortSignal): Promise<Finding[]> {
  if (!io.env['LATHE_FLEET_QUEUE']) return [];
  const title = 'fleet';
  const loaded = await loadFleet();
  if (!loaded) {
    const hint = 'docs/fleet.md says how to install it';
    return [{ state: 'bad', title, detail: `LATHE_FLEET_QUEUE is set, but ${fleetPackage} is not installed`, hint }];
  }
  const findings: Finding[] = [];
  const { cwd, home, env } = io;
  const quiet = { cwd, home, env, out: () => undefined, err: () => undefined };
  try {
    await loaded.followStatus(
      [],
      quiet,
      ({ workers, jobs, failed, clockProblem }) => {
        const detail = `the queue answers; ${workers.length} workers, ${jobs['active'] ?? 0} jobs running`;
        findings.push({ state: 'ok', title, detail });
        if (clockProblem !== undefined)
          findings.push({ state: 'bad', title, detail: clockProblem, hint: 'timedatectl' });
        const hint = 'lathe fleet status';
        if (failed.length > 0)
          findings.push({ state: 'note', title, detail: `${failed.length} jobs were given up`, hint });
        if (workers.length === 0)
          findings.push({
            state: 'note',
            title,
            detail: 'no worker was seen in the last hour',
            hint: 'lathe fleet worker',
          });
      },
      { isLive: false, signal },
    );
  } catch (error) {
    const hint = 'check LATHE_FLEET_QUEUE, LATHE_FLEET_STORE and the network';
    findings.push({ state: 'bad', title, detail: error instanceof Error ? error.message : String(error), hint });
  }
  return findings;
}
