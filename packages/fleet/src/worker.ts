import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { checkJob, jobKey } from './job/job.js';
import type { Engine, Queued } from './queue/engine.js';
import { assertPermitted, type JobHost, runJob } from './run/run-job.js';

export interface FleetWorkerOptions extends Omit<JobHost, 'name' | 'board'> {
  engine: Engine;
  teams: readonly string[];
  /** How many jobs run at once. */
  jobs: number;
  lockMs: number;
}

const pollMs = 500;
const heartbeatMs = 5_000;
/** A parked job looks again by itself after this time. */
const parkMs = 24 * 3600_000;

/** Takes jobs from the queues of some teams and runs them until it is closed. */
export class FleetWorker {
  readonly name = `${hostname()}-${randomBytes(3).toString('hex')}`;
  readonly #options: FleetWorkerOptions;
  readonly #host: JobHost;
  readonly #running = new Map<string, AbortController>();
  readonly #workers: { close(): Promise<void> }[] = [];
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(options: FleetWorkerOptions) {
    this.#options = options;
    this.#host = { ...options, name: this.name, board: options.engine.board };
  }

  async start(): Promise<void> {
    const { engine, teams, jobs, lockMs } = this.#options;
    const { UnrecoverableError, DelayedError } = await import('bullmq');
    const errors = { refuse: (reason: string) => new UnrecoverableError(reason), park: () => new DelayedError() };
    for (const team of teams) {
      const worker = engine.startWorker(
        team,
        (job, token, signal) => this.#process(job, { token, team, errors }, signal),
        { name: this.name, concurrency: jobs, lockMs },
      );
      // Somebody else may have the job now.
      worker.on('lockRenewalFailed', (keys) => {
        for (const key of keys) this.#running.get(key)?.abort(new Error('the lock of the job is lost'));
      });
      this.#workers.push(worker);
    }
    this.#every(pollMs, () => this.#cancelWanted());
    this.#every(heartbeatMs, () => this.#beat());
    await this.#beat();
  }

  /** Ends the running jobs, which other workers then take over. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    for (const controller of this.#running.values()) controller.abort(new Error('the worker ends'));
    await Promise.all(this.#workers.map((worker) => worker.close()));
    await this.#host.board.remove('workers', this.name);
  }

  async #process(
    queued: Queued,
    { token, team, errors }: { token: string; team: string; errors: { refuse(reason: string): Error; park(): Error } },
    signal: AbortSignal,
  ): Promise<string> {
    const { board, log } = this.#host;
    const key = queued.id ?? '';
    const read = this.#read(queued, team);
    if ('refusal' in read) {
      log(`refused ${key}: ${read.refusal}`);
      throw errors.refuse(read.refusal);
    }
    const { job } = read;
    // The result was there, and the worker died before it could say so.
    if ((await board.get(`results/${job.run}`, job.id)) !== undefined) return key;
    const controller = new AbortController();
    this.#running.set(key, controller);
    log(`started ${job.id}`);
    try {
      const attempt = await board.add(`attempts/${job.run}`, key, 1);
      const end = await runJob({ ...this.#host, job, key, attempt }, AbortSignal.any([signal, controller.signal]));
      if (end.status === 'parked') {
        log(`parked ${job.id}: it waits for an answer`);
        await queued.moveToDelayed(Date.now() + parkMs, token);
        throw errors.park();
      }
      log(`ended ${job.id}: ${end.result.status}`);
      await this.#finish(job, end.result);
      return key;
    } catch (error) {
      if (!isCancelled(controller)) throw error;
      await this.#finish(job, { ...cancelledResult(job), worker: this.name });
      return key;
    } finally {
      this.#running.delete(key);
      if (isCancelled(controller)) await board.remove('cancelled', key);
    }
  }

  /** The first result counts. */
  async #finish(job: { run: string; id: string }, result: unknown): Promise<void> {
    const { board, keys } = this.#host;
    await board.set(`results/${job.run}`, job.id, JSON.stringify(keys.seal('result', result)), { ifAbsent: true });
  }

  #read(queued: Queued, team: string) {
    try {
      const job = checkJob(this.#host.keys.open('job', queued.data).value);
      if (jobKey(job) !== queued.id) throw new Error('the job was put into the queue under another name');
      if (job.team !== team) throw new Error(`the job is for the team ${job.team}`);
      assertPermitted(job, this.#host);
      return { job };
    } catch (error) {
      return { refusal: error instanceof Error ? error.message : String(error) };
    }
  }

  async #cancelWanted(): Promise<void> {
    if (this.#running.size === 0) return;
    for (const key of await this.#host.board.fields('cancelled')) this.#running.get(key)?.abort(cancelled);
  }

  async #beat(): Promise<void> {
    const { teams, jobs } = this.#options;
    const state = { seen: Date.now(), running: this.#running.size, jobs, teams };
    await this.#host.board.set('workers', this.name, JSON.stringify(state));
  }

  /** A server that does not answer for a while is asked again later. */
  #every(ms: number, act: () => Promise<void>): void {
    this.#timers.push(setInterval(() => void act().catch(() => undefined), ms));
  }
}

const cancelled = new Error('the job was cancelled');
const isCancelled = ({ signal }: AbortController): boolean => signal.aborted && signal.reason === cancelled;

/** The result of a task that somebody cancelled. */
export function cancelledResult({ id, run }: { id: string; run: string }) {
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
  return { id, run, status: 'cancelled' as const, result: 'The task was cancelled.', usage, durationMs: 0 };
}
