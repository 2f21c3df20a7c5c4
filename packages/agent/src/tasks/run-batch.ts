import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { allDone, homeDirectories } from '@lathe/core/host';
import { FileLocks, LatheHome } from '@lathe/core/tools';
import { TaskFileError, type TaskLine } from './read-tasks.js';
import { ResultsFile } from './results-file.js';
import { type RunTaskOptions, runTask, type TaskResult } from './run-task.js';

/** How to run a batch. */
export interface BatchOptions extends RunTaskOptions {
  /** How many tasks run at once. */
  jobs: number;
  /** The file of results. Tasks that have one in it do not run again. */
  out: string;
  /** Called with the progress. */
  onProgress?: (progress: BatchProgress) => void;
  /** Runs a task. Default: `runTask`. */
  run?: typeof runTask;
}

/** How far a batch is. */
export interface BatchProgress {
  total: number;
  /** Tasks with a result, those of earlier runs included. */
  done: number;
  /** Of these, those that this run has done. */
  now: number;
  failed: number;
  running: number;
}

/** If the lock is held longer, another batch holds it, not a short write. */
const patienceMs = 1_000;

/** Runs tasks, some at a time, and writes each result as soon as it is there. One batch at a time uses a file of results. */
export async function runBatch(
  tasks: readonly TaskLine[],
  options: BatchOptions,
  signal: AbortSignal,
): Promise<BatchProgress> {
  const { latheHome } = homeDirectories(options);
  const locks = new FileLocks(new LatheHome(latheHome), { patienceMs });
  // One name for the file, however it is named, because the lock is by name.
  const real = await realpath(options.out).catch(() => undefined);
  const out = real ?? join(await realpath(dirname(options.out)), basename(options.out));
  let isHeld = false;
  try {
    return await locks.hold(`${out}.batch`, signal, () => {
      isHeld = true;
      return work(tasks, { ...options, out }, signal);
    });
  } catch (error) {
    if (isHeld || signal.aborted) throw error;
    throw new TaskFileError(`Another batch writes to ${out}. Wait for it, or choose another file with --out.`);
  }
}

async function work(tasks: readonly TaskLine[], options: BatchOptions, signal: AbortSignal): Promise<BatchProgress> {
  const { jobs, out, onProgress, run = runTask, ...rest } = options;
  const results = await ResultsFile.open(out);
  const waiting = tasks.filter(({ id }) => !results.statuses.has(id));
  const before = tasks.length - waiting.length;
  const failed = tasks.filter(({ id }) => results.statuses.get(id) === 'error').length;
  const progress: BatchProgress = { total: tasks.length, done: before, now: 0, failed, running: 0 };
  const tell = () => onProgress?.({ ...progress });
  // An interrupted task has no result: it runs again next time.
  const onResult = async (result: TaskResult) => {
    if (result.status !== 'cancelled') await results.add(result);
  };
  // A result that cannot be written stops the other tasks too, which would work for nothing.
  const broken = new AbortController();
  const either = AbortSignal.any([signal, broken.signal]);
  const worker = async () => {
    for (let task = waiting.shift(); task && !either.aborted; task = waiting.shift()) {
      progress.running += 1;
      tell();
      const result = await run(task, { ...rest, onResult }, either);
      progress.running -= 1;
      if (result.status === 'error') progress.failed += 1;
      if (result.status !== 'cancelled') progress.now += 1;
      progress.done = before + progress.now;
      tell();
    }
  };
  const stopAll = (error: unknown) => {
    broken.abort();
    throw error;
  };
  tell();
  await allDone(Array.from({ length: Math.max(1, jobs) }, () => worker().catch(stopAll)));
  return progress;
}
