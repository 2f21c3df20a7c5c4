import type { JobResult } from './job/job.js';
import { jobKey, noUsage } from './job/job.js';
import type { Keys } from './job/keys.js';
import type { Board } from './queue/board.js';
import type { FleetQueue } from './queue/engine.js';
import type { Question } from './run/questions.js';

export interface RunState {
  board: Board;
  queue: FleetQueue;
  keys: Keys;
  run: string;
}

/**
 * The results of a run that are not in `known` yet. The board is the truth; a job that failed without leaving a result
 * (refused, or given up after several workers died) gets one that says why.
 */
export async function newResults(
  { board, queue, keys, run }: RunState,
  ids: readonly string[],
  known: ReadonlySet<string>,
): Promise<JobResult[]> {
  const ended = new Set(await board.fields(`results/${run}`));
  const results: JobResult[] = [];
  for (const id of ids) {
    if (known.has(id) || !ended.has(id)) continue;
    const stored = await board.get(`results/${run}`, id);
    if (stored !== undefined) results.push(readResult(keys, stored, { run, id }));
  }
  const missing = new Map(ids.flatMap((id) => (known.has(id) || ended.has(id) ? [] : [[jobKey({ run, id }), id]])));
  if (missing.size === 0) return results;
  for (const job of await queue.getJobs(['failed'])) {
    const id = missing.get(job.id ?? '');
    if (id !== undefined) results.push(failure({ run, id }, job.failedReason ?? 'the job failed'));
  }
  return results;
}

/** A result that nobody trusted has signed is shown as an error. */
export function readResult(keys: Keys, stored: string, { run, id }: { run: string; id: string }): JobResult {
  try {
    const { value } = keys.open('result', JSON.parse(stored));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- whoever signed it is trusted
    const result = value as JobResult;
    if (result.id !== id || result.run !== run) throw new Error('the result is of another task');
    return result;
  } catch (error) {
    return failure({ run, id }, error instanceof Error ? error.message : String(error));
  }
}

function failure({ run, id }: { run: string; id: string }, result: string): JobResult {
  return { id, run, status: 'error', result, usage: noUsage, durationMs: 0 };
}

/** The open questions, the oldest first. */
export async function openQuestions(board: Board): Promise<Question[]> {
  const keys = await board.fields('questions');
  const stored = await Promise.all(keys.map((key) => board.get('questions', key)));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- shown to a person, who decides
  const questions = stored.flatMap((text) => (text === undefined ? [] : [JSON.parse(text) as Question]));
  return questions.sort((a, b) => a.askedAt - b.askedAt);
}
