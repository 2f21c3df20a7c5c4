import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ResultsFile, readTasks, TaskFileError, type TaskLine, type TaskResult } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { getObject, type Store } from '../files/store.js';
import { newResults, openQuestions, type RunState } from '../follow.js';
import type { JobResult } from '../job/result.js';
import { submit } from '../submit.js';
import { choice, flagsOf, positive, texts } from './flags.js';
import { type FleetIo, FleetUsageError } from './io.js';
import { common, withFleet } from './open-fleet.js';

const pollMs = 500;
const dayMs = 24 * 3600_000;
const defaultDays = 7;
/** A result is kept for a month: a job that lives longer could be put there again and run again. */
const maxDays = 30;
const defaultPriority = 10;

/** `lathe fleet run tasks.jsonl`: submits the tasks and waits for their results. */
export async function runCommand(args: string[], io: FleetIo, signal: AbortSignal): Promise<number> {
  const { values, positionals } = flagsOf(args, {
    ...common,
    ...texts('out', 'run', 'team', 'limit', 'priority', 'questions', 'days', 'max-tokens', 'max-cost'),
    flows: { type: 'boolean' },
    deny: { type: 'string', multiple: true, default: [] },
    ask: { type: 'string', multiple: true, default: [] },
    detach: { type: 'boolean' },
  });
  const [file, extra] = positionals;
  if (file === undefined || extra !== undefined) throw new FleetUsageError('lathe fleet run takes one task file');
  const path = resolve(io.cwd, file);
  const tasks = await readTasks(path).catch(asUsage);
  if (tasks.length === 0) throw new FleetUsageError('the task file has no tasks');
  const out = values.out === undefined ? undefined : await ResultsFile.open(resolve(io.cwd, values.out)).catch(asUsage);
  const team = values.team ?? 'default';
  // The same file in the same place gives the same run, so that submitting it again adds nothing.
  const run = values.run ?? hash('sha256', JSON.stringify([team, io.cwd, readFileSync(path, 'utf8')])).slice(0, 12);
  const limit = positive('--limit', values.limit);
  const days = positive('--days', values.days) ?? defaultDays;
  if (days > maxDays) throw new FleetUsageError(`--days must be at most ${maxDays}`);
  const runTokens = positive('--max-tokens', values['max-tokens']);
  const runCost = positive('--max-cost', values['max-cost']);
  const settings = {
    run,
    team,
    cwd: io.cwd,
    questions: choice('--questions', values.questions, ['deny', 'park'] as const) ?? 'park',
    priority: positive('--priority', values.priority) ?? defaultPriority,
    validMs: days * dayMs,
    budgets: { ...(runTokens && { runTokens }), ...(runCost && { runCost }) },
    rules: { deny: values.deny, ask: values.ask },
    ...(values.flows && { flows: true as const }),
  };
  return withFleet(values, io, async ({ engine, board, keys, store, secrets }) => {
    const queue = engine.queue(team);
    if (limit !== undefined) await queue.setGlobalConcurrency(limit);
    await submit(tasks, { ...settings, board, queue, keys, store, secrets }, signal);
    io.err(`lathe: ${tasks.length} tasks are in the queue as run ${run}`);
    return values.detach ? 0 : wait({ board, queue, keys, run }, tasks, { io, out, store }, signal);
  });
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
  const before = known.size;
  let failed = [...known].filter((id) => out?.statuses.get(id) !== 'success').length;
  try {
    while (known.size < ids.length && !signal.aborted) {
      for (const result of await newResults(state, ids, known)) {
        known.add(result.id);
        if (result.status !== 'success') failed += 1;
        const line = await asLine(result, store);
        if (out === undefined) io.out(JSON.stringify(line));
        // Not written, so that the same command tries again what no worker that is trusted has run.
        else if (result.status === 'error' && result.worker === undefined)
          io.err(visibleText(`lathe: ${result.id}: ${result.result}`));
        else await out.add(line);
      }
      const asked = (await openQuestions(state)).filter(({ run }) => run === state.run).length;
      const note = asked > 0 ? { note: `${asked} questions: lathe fleet answer` } : {};
      const done = known.size;
      io.progress.show({ total: ids.length, done, now: done - before, failed, running: 0, ...note });
      if (known.size < ids.length) await pause(pollMs, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    io.progress.end();
  }
  if (!signal.aborted) return failed > 0 ? 1 : 0;
  io.err('lathe: the tasks continue without this program. The same command shows them again.');
  io.err(`lathe: to end them: lathe fleet cancel --run ${state.run}`);
  return 130;
}

/** The patch itself stands in the line, as in a batch on one machine. */
export async function asLine({ patch, ...line }: JobResult, store: Store): Promise<TaskResult> {
  if (patch === undefined) return line;
  const bytes = await getObject(store, patch);
  return isUtf8(bytes)
    ? { ...line, patch: bytes.toString('utf8') }
    : Object.assign(line, { patchBase64: bytes.toString('base64') });
}

function asUsage(error: unknown): never {
  if (error instanceof TaskFileError || (error instanceof Error && 'code' in error))
    throw new FleetUsageError(error.message);
  throw error;
}
