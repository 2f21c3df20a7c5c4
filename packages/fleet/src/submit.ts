import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { TaskLine } from '@lathe/agent';
import { redact } from '@lathe/core/host';
import { makeBase } from './files/make-base.js';
import type { Store } from './files/store.js';
import { type Job, type JobBase, jobKey } from './job/job.js';
import type { Keys } from './job/keys.js';
import type { FleetQueue } from './queue/engine.js';

export interface SubmitOptions extends Pick<Job, 'run' | 'team' | 'questions' | 'budgets' | 'rules'> {
  queue: FleetQueue;
  keys: Keys;
  store: Store;
  /** Where relative directories of tasks start. */
  cwd: string;
  /** 1 is the most urgent. */
  priority: number;
  /** How long the jobs are valid. */
  validMs: number;
  secrets: readonly string[];
}

const batchSize = 100;
/** A job whose worker had a problem is tried again this often. */
const attempts = 4;

/** Puts tasks into the queue. A task that is there already, or has ended, is not added again. */
export async function submit(tasks: readonly TaskLine[], options: SubmitOptions, signal: AbortSignal): Promise<Job[]> {
  const { queue, keys, store, cwd, priority, validMs, secrets } = options;
  const bases = new Map<string, Promise<JobBase | undefined>>();
  const baseOf = (directory: string) => {
    const known = bases.get(directory) ?? makeBase(directory, store, signal);
    bases.set(directory, known);
    return known;
  };
  const jobs: Job[] = [];
  for (const { id, prompt, model, mode, cwd: directory } of tasks) {
    const base = await baseOf(resolve(cwd, directory ?? '.'));
    jobs.push({
      id,
      run: options.run,
      team: options.team,
      prompt: redact(prompt, secrets),
      questions: options.questions,
      ...(model !== undefined && { model }),
      ...(mode !== undefined && { mode }),
      ...(base && { base }),
      ...(options.rules && { rules: options.rules }),
      ...(options.budgets && { budgets: options.budgets }),
      expires: Date.now() + validMs,
    });
  }
  for (let start = 0; start < jobs.length; start += batchSize) {
    signal.throwIfAborted();
    await queue.addBulk(
      jobs.slice(start, start + batchSize).map((job) => ({
        name: 'task',
        data: keys.seal('job', job),
        opts: { jobId: jobKey(job), priority, attempts, backoff: { type: 'exponential', delay: 1_000 } },
      })),
    );
  }
  return jobs;
}

/** The same file gives the same run, so that submitting it again adds nothing. */
export function runNameOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
