import { jobKey } from './job/job.js';
import type { Keys } from './job/keys.js';
import { type JobResult, newResult, readResult } from './job/result.js';
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
  known: ReadonlySet<string> = new Set(),
): Promise<JobResult[]> {
  const ended = new Set(await board.fields(`results/${run}`));
  const open = ids.filter((id) => !known.has(id));
  const results: JobResult[] = [];
  for (const id of open.filter((each) => ended.has(each)))
    results.push(readResult(keys, await board.get(`results/${run}`, id), { run, id }));
  const missing = new Map(open.filter((id) => !ended.has(id)).map((id) => [jobKey({ run, id }), id]));
  if (missing.size === 0) return results;
  for (const job of await queue.getJobs(['failed'])) {
    const id = missing.get(job.id ?? '');
    if (id !== undefined)
      results.push(newResult({ run, id }, { status: 'error', result: job.failedReason || 'the job failed' }));
  }
  return results;
}

/** The open questions that a trusted worker has signed, the oldest first. */
export async function openQuestions({ board, keys }: Pick<RunState, 'board' | 'keys'>): Promise<Question[]> {
  const fields = await board.fields('questions');
  const stored = await Promise.all(fields.map((field) => board.get('questions', field)));
  const questions = stored.flatMap((text) => keys.read<Question>('question', text)?.value ?? []);
  questions.sort((a, b) => a.attempt - b.attempt);
  // Of each call the latest: a worker that has lost the job may have asked too.
  const latest = new Map(questions.map((question) => [`${question.job}.${question.digest}`, question]));
  return [...latest.values()].sort((a, b) => a.askedAt - b.askedAt);
}
