import { jobKey } from './job/job.js';
import type { Keys } from './job/keys.js';
import { failedResult, type JobResult, readResult } from './job/result.js';
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
    if (id !== undefined) results.push(failedResult({ run, id }, job));
  }
  return results;
}

/** The open questions that a trusted worker has signed, the oldest first. */
export async function openQuestions({ board, keys }: Pick<RunState, 'board' | 'keys'>): Promise<Question[]> {
  const fields = await board.fields('questions');
  const stored = await Promise.all(fields.map((field) => board.get('questions', field)));
  const questions = stored.flatMap((text) => keys.read<Question>('question', text)?.value ?? []);
  return questions.sort((a, b) => a.askedAt - b.askedAt);
}
