import { resolve } from 'node:path';
import type { TaskLine } from '@lathe/agent';
import { redact } from '@lathe/core/host';
import { makeBase } from './files/make-base.js';
import type { Store } from './files/store.js';
import { checkJob, type Job, jobKey } from './job/job.js';
import type { Keys } from './job/keys.js';
import type { Board } from './queue/board.js';
import { type FleetQueue, jobOptions } from './queue/engine.js';

export interface SubmitOptions extends Pick<Job, 'run' | 'team' | 'questions' | 'budgets' | 'rules' | 'flows'> {
  board: Board;
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

/** Puts tasks into the queue. A task that is there already, or has ended, is not added again. */
export async function submit(tasks: readonly TaskLine[], options: SubmitOptions, signal: AbortSignal): Promise<void> {
  const { board, queue, keys, store, cwd, priority, validMs, secrets, ...shared } = options;
  const bases = new Map<string, ReturnType<typeof makeBase>>();
  const baseOf = (directory: string) => {
    const known = bases.get(directory) ?? makeBase(directory, store, signal);
    bases.set(directory, known);
    return known;
  };
  const entry = async ({ id, prompt, model, mode, cwd: directory }: TaskLine) => {
    const job: Job = {
      ...shared,
      ...(await baseOf(resolve(cwd, directory ?? '.'))),
      id,
      prompt: redact(prompt, secrets),
      ...(model !== undefined && { model }),
      ...(mode !== undefined && { mode }),
      expires: Date.now() + validMs,
    };
    return { name: 'task', data: keys.seal('job', checkJob(job)), opts: jobOptions(jobKey(job), priority) };
  };
  // What was refused or given up is tried again.
  const keysOfRun = new Set(tasks.map(({ id }) => jobKey({ run: options.run, id })));
  for (const job of (await queue.getJobs(['failed'])).filter(({ id = '' }) => keysOfRun.has(id))) {
    await board.remove(`problems/${options.run}`, job.id ?? '');
    await job.remove();
  }
  await board.set('runs', options.run, JSON.stringify({ team: options.team, total: tasks.length, at: Date.now() }));
  for (let start = 0; start < tasks.length; start += batchSize) {
    signal.throwIfAborted();
    await queue.addBulk(await Promise.all(tasks.slice(start, start + batchSize).map(entry)));
  }
}
