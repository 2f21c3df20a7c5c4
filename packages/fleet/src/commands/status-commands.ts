import { visibleText } from '@lathe/core/host';
import { openQuestions } from '../follow.js';
import { flagsOf } from './flags.js';
import type { FleetIo } from './io.js';
import type { Fleet } from './open-fleet.js';
import { common, withFleet } from './other-commands.js';

/** A worker that has not been seen for this long is shown as gone. */
const goneMs = 30_000;
const refreshMs = 1_000;
const clearScreen = '\u001b[H\u001b[2J';

/** `lathe fleet status`: counts, workers, open questions and failed jobs. */
export function statusCommand(args: readonly string[], io: FleetIo): Promise<number> {
  const { values } = flagsOf(args, { ...common, json: { type: 'boolean' } });
  return withFleet(values, io, async (fleet) => {
    const status = await readStatus(fleet, values.team ?? 'default');
    io.out(values.json ? JSON.stringify(status) : describe(status));
    return 0;
  });
}

/** `lathe fleet watch`: the status again and again, until it is interrupted. */
export function watchCommand(args: readonly string[], io: FleetIo, signal: AbortSignal): Promise<number> {
  const { values } = flagsOf(args, common);
  return withFleet(values, io, async (fleet) => {
    const startedAt = performance.now();
    const first = await readStatus(fleet, values.team ?? 'default');
    let shown = '';
    while (!signal.aborted) {
      const status = await readStatus(fleet, values.team ?? 'default');
      const minutes = (performance.now() - startedAt) / 60_000;
      const pace = (((status.jobs['completed'] ?? 0) - (first.jobs['completed'] ?? 0)) / minutes).toFixed(1);
      const text = `${describe(status)}\n${pace} tasks per minute since ${Math.ceil(minutes)} min`;
      if (io.isInteractive) io.draw(`${clearScreen}${text}\n`);
      else if (text !== shown) io.out(text);
      shown = text;
      await new Promise((done) => setTimeout(done, refreshMs));
    }
    return 0;
  });
}

type Status = Awaited<ReturnType<typeof readStatus>>;

async function readStatus({ engine }: Fleet, team: string) {
  const { board } = engine;
  const queue = engine.queue(team);
  const jobs = await queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'completed', 'failed');
  const names = await board.fields('workers');
  const workers = await Promise.all(names.map(async (name) => ({ name, ...parse(await board.get('workers', name)) })));
  const questions = await openQuestions(board);
  const failed = (await queue.getJobs(['failed'], 0, 19)).map(({ id, failedReason }) => ({ id, reason: failedReason }));
  return { jobs, workers, questions, failed };
}

function describe({ jobs, workers, questions, failed }: Status): string {
  const waiting = (jobs['waiting'] ?? 0) + (jobs['prioritized'] ?? 0);
  const { active, delayed, completed, failed: given } = jobs;
  const lines = [`${waiting} waiting, ${active} running, ${delayed} parked, ${completed} ended, ${given} failed`];
  for (const { name, seen, running, jobs: places } of workers) {
    const state = Date.now() - seen > goneMs ? 'not seen for a while' : `${running} of ${places} places in use`;
    lines.push(`worker ${name}: ${state}`);
  }
  for (const { id, tool, digest } of questions) lines.push(`question ${digest.slice(0, 12)} of ${id}: ${tool}`);
  for (const { id, reason } of failed) lines.push(`failed ${id}: ${reason}`);
  return lines.map((line) => visibleText(line)).join('\n');
}

function parse(text: string | undefined): { seen: number; running: number; jobs: number } {
  return { seen: 0, running: 0, jobs: 0, ...(text === undefined ? {} : JSON.parse(text)) };
}
