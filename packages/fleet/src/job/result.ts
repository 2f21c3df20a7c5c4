import type { Job } from './job.js';
import type { Keys } from './keys.js';

/** What became of a task. */
export interface JobResult {
  id: string;
  run: string;
  status: 'success' | 'error' | 'cancelled';
  /** The answer, or what went wrong. */
  result: string;
  /** The object that holds the changes. */
  patch?: string;
  files?: readonly string[];
  usage: typeof noUsage;
  /** In cents; missing when a price is not known. */
  cost?: number;
  /** Who answered which question, and how. */
  answers?: readonly string[];
  sessionId?: string;
  worker?: string;
  durationMs: number;
}

type TaskName = Pick<Job, 'run' | 'id'>;
const noUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };

/** A result that nobody trusted has signed is shown as an error. */
export function readResult(keys: Keys, stored: string, { run, id }: TaskName): JobResult {
  const result = keys.read<JobResult>('result', stored)?.value;
  if (result?.id === id && result.run === run) return result;
  return newResult(
    { run, id },
    { status: 'error', result: 'the result is not signed by a machine that is trusted here' },
  );
}

/** The result of a task that spent nothing, unless `rest` says so. */
export function newResult({ run, id }: TaskName, rest: Pick<JobResult, 'status' | 'result'> & Partial<JobResult>) {
  return { id, run, usage: noUsage, durationMs: 0, ...rest } satisfies JobResult;
}

/** Of a job that was refused, or given up after several workers died. */
export function failedResult(name: TaskName, { failedReason }: { failedReason: string }): JobResult {
  return newResult(name, { status: 'error', result: failedReason || 'the job failed' });
}
