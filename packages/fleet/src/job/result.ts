import { noUsage, type TaskResult } from '@lathe/agent';
import type { Job } from './job.js';
import type { Keys } from './keys.js';

/** What became of a task. `patch` names the object that holds the changes. */
export interface JobResult extends TaskResult {
  run: string;
  files?: readonly string[];
  /** In cents; missing when a price is not known. */
  cost?: number;
  /** Who answered which question, and how. */
  answers?: readonly string[];
  worker?: string;
  durationMs: number;
}

type TaskName = Pick<Job, 'run' | 'id'>;

/** A result that nobody trusted has signed is shown as an error. */
export function readResult(keys: Keys, stored: string | undefined, { run, id }: TaskName): JobResult {
  const result = keys.read<JobResult>('result', stored)?.value;
  if (result?.id === id && result.run === run) return result;
  const reason = 'the result is not signed by a machine that is trusted here';
  return newResult({ run, id }, { status: 'error', result: reason });
}

/** The result of a task that spent nothing, unless `rest` says so. */
export function newResult({ run, id }: TaskName, rest: Pick<JobResult, 'status' | 'result'> & Partial<JobResult>) {
  return { id, run, usage: { ...noUsage }, sessionId: '', durationMs: 0, ...rest } satisfies JobResult;
}
