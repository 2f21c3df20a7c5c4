import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ResultsFile, readTasks, TaskFileError, type TaskLine, type TaskResult } from '@lathe/agent';
import type { Store } from '../files/store.js';
import { getObject } from '../files/store.js';
import { newResults, openQuestions, type RunState } from '../follow.js';
import type { JobResult } from '../job/job.js';
import { runNameOf, submit } from '../submit.js';
import { choice, flagsOf, positive } from './flags.js';
import { type FleetIo, FleetUsageError } from './io.js';
import { openFleet } from './open-fleet.js';
import { Progress } from './progress.js';

const pollMs = 500;
const dayMs = 24 * 3600_000;

/** `lathe fleet run tasks.jsonl`: submits the tasks and waits for their results. */
export async function runCommand(args: readonly string[], io: FleetIo, signal: AbortSignal): Promise<number> {
  const { values, positionals } = flagsOf(args, {
    queue: { type: 'string' },
    store: { type: 'string' },
    out: { type: 'string' },
    run: { type: 'string' },
    team: { type: 'string' },
    limit: { type: 'string' },
    priority: { type: 'string' },
    questions: { type: 'string' },
    days: { type: 'string' },
    'max-tokens': { type: 'string' },
    'max-cost': { type: 'string' },
    detach: { type: 'boolean' },
  });
  const [file, extra] = positionals;
  if (file === undefined || extra !== undefined) throw new FleetUsageError('lathe fleet run takes one task file');
  const path = resolve(io.cwd, file);
  const tasks = await readTasks(path).catch(asUsage);
  if (tasks.length === 0) throw new FleetUsageError('the task file has no tasks');
  const out = values.out === undefined ? undefined : await ResultsFile.open(resolve(io.cwd, values.out)).catch(asUsage);
  const fleet = await openFleet(values, io);
  try {
    const run = values.run ?? runNameOf(readFileSync(path, 'utf8'));
    const team = values.team ?? 'default';
    const queue = fleet.engine.queue(team);
    const limit = positive('--limit', values.limit);
    if (limit !== undefined) await queue.setGlobalConcurrency(limit);
    const runTokens = positive('--max-tokens', values['max-tokens']);
    const runCost = positive('--max-cost', values['max-cost']);
    await submit(
      tasks,
      {
        run,
        team,
        queue,
        keys: fleet.keys,
        store: fleet.store,
        cwd: io.cwd,
        secrets: fleet.secrets,
        questions: choice('--questions', values.questions, ['deny', 'park'] as const) ?? 'park',
        priority: positive('--priority', values.priority) ?? 10,
        validMs: (positive('--days', values.days) ?? 7) * dayMs,
        budgets: { ...(runTokens && { runTokens }), ...(runCost && { runCost }) },
      },
      signal,
    );
    io.err(`lathe: ${tasks.length} tasks are in the queue as run ${run}`);
    if (values.detach) return 0;
    const state: RunState = { board: fleet.engine.board, queue, keys: fleet.keys, run };
    return await wait(state, tasks, { io, out, store: fleet.store }, signal);
  } finally {
    await fleet.engine.close();
  }
}

async function wait(
  state: RunState,
  tasks: readonly TaskLine[],
  { io, out, store }: { io: FleetIo; out: ResultsFile | undefined; store: Store },
  signal: AbortSignal,
): Promise<number> {
  const ids = tasks.map(({ id }) => id);
  // What an earlier call has written is not written again.
  const known = new Set(ids.filter((id) => out?.statuses.has(id)));
  const progress = new Progress(ids.length, io);
  let failed = 0;
  while (known.size < ids.length) {
    for (const result of await newResults(state, ids, known)) {
      known.add(result.id);
      if (result.status !== 'success') failed += 1;
      const line = await asLine(result, store);
      if (out === undefined) io.out(JSON.stringify(line));
      else await out.add(line);
    }
    const questions = (await openQuestions(state.board)).filter(({ run }) => run === state.run).length;
    progress.show(known.size, questions);
    if (known.size === ids.length) break;
    if (signal.aborted) {
      progress.end();
      io.err(
        `lathe: the tasks go on without this program. See them again with the same command, or: lathe fleet cancel --run ${state.run}`,
      );
      return 130;
    }
    await new Promise((done) => setTimeout(done, pollMs));
  }
  progress.end();
  return failed > 0 ? 1 : 0;
}

/** The patch itself stands in the line, as in a batch on one machine. */
export async function asLine({ patch, ...result }: JobResult, store: Store): Promise<TaskResult> {
  return {
    ...result,
    sessionId: result.sessionId ?? '',
    ...(patch !== undefined && { patch: (await getObject(store, patch)).toString('utf8') }),
  };
}

function asUsage(error: unknown): never {
  if (error instanceof TaskFileError || (error instanceof Error && 'code' in error))
    throw new FleetUsageError(error.message);
  throw error;
}
