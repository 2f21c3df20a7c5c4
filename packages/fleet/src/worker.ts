import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { redact } from '@lathe/core/host';
import { newResults } from './follow.js';
import { checkJob, type Job, jobKey } from './job/job.js';
import { clockProblem } from './queue/clock.js';
import { type Engine, jobOptions, type Processor, type Queued, queueSignal } from './queue/engine.js';
import type { JobHost } from './run/run.js';
import { assertPermitted, runJob } from './run/run-job.js';

export interface FleetWorkerOptions extends Omit<JobHost, 'name' | 'board'> {
  engine: Engine;
  teams: readonly string[];
  /** How many jobs of each team run at once. */
  jobs: number;
  lockMs: number;
}

const pollMs = 250;
/** After so many problems of workers with it, a job is given up. */
const maxProblems = 8;
const maxPauseMs = 30_000;
/** A server that is away does not keep a worker from ending. */
const closeMs = 5_000;
const heartbeatMs = 5_000;
/** A parked job looks again by itself after this time. */
const parkMs = 24 * 3600_000;
const cancelled = new Error('the job was cancelled');
const closing = new Error('the worker ends');
const lost = new Error('another worker has the job now');

/** Takes jobs from the queues of some teams and runs them until it is closed. */
export class FleetWorker {
  readonly name = `${hostname()}-${randomBytes(3).toString('hex')}`;
  readonly #host: FleetWorkerOptions & JobHost;
  readonly #running = new Map<string, { controller: AbortController; ended: Promise<unknown> }>();
  readonly #workers: ReturnType<Engine['startWorker']>[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  #isClosed = false;

  constructor(options: FleetWorkerOptions) {
    this.#host = { ...options, name: this.name, board: options.engine.board };
  }

  /** Throws when the clock of this machine is wrong. */
  async start(): Promise<void> {
    const { board, lockMs } = this.#host;
    const problem = await clockProblem(board, lockMs);
    if (problem !== undefined) throw new Error(problem);
    this.#startTaking();
    this.#every(pollMs, async () => {
      if (this.#running.size === 0) return;
      for (const key of await board.fields('cancelled')) this.#running.get(key)?.controller.abort(cancelled);
    });
    this.#every(Math.min(heartbeatMs, lockMs / 3), () => this.#beat());
    await this.#beat();
  }

  /** Ends the running jobs, which other workers then take over. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    const gone = this.#stopTaking().then(() => this.#host.board.remove('workers', this.name));
    await Promise.race([gone, pause(closeMs, undefined, { ref: false })]);
  }

  #startTaking(): void {
    const { engine, teams, jobs: concurrency, lockMs } = this.#host;
    for (const team of teams) {
      const take: Processor = (job, token) => this.#take(job, token, team);
      this.#workers.push(engine.startWorker(team, take, { concurrency, lockMs }));
    }
  }

  async #stopTaking(): Promise<void> {
    const closed = Promise.all(this.#workers.splice(0).map((worker) => worker.close()));
    for (const { controller } of this.#running.values()) controller.abort(closing);
    await closed;
  }

  /** Takes no jobs while the clock is wrong: locks in PostgreSQL and the expiry of jobs depend on it. */
  async #isClockRight(): Promise<boolean> {
    const { board, lockMs, log } = this.#host;
    const problem = await clockProblem(board, lockMs);
    const isTaking = this.#workers.length > 0;
    if (problem !== undefined) {
      if (isTaking) log(`takes no jobs: ${problem}`);
      void this.#stopTaking();
    } else if (!isTaking && !this.#isClosed) {
      log('the clock is right again: takes jobs');
      this.#startTaking();
    }
    return problem === undefined;
  }

  async #take(queued: Queued, token: string, team: string): Promise<string> {
    const { board } = this.#host;
    const key = queued.id ?? '';
    if (!(await this.#isClockRight())) {
      await queued.moveToWait(token);
      throw queueSignal('Waiting');
    }
    const job = this.#read(queued, team);
    // The result was there, and the worker died before it could say so; or somebody put the job there again.
    if ((await board.get(`results/${job.run}`, job.id)) !== undefined) return key;
    // After a lost lock this worker may get the job again while it still cleans up.
    const earlier = this.#running.get(key);
    earlier?.controller.abort(lost);
    await earlier?.ended;
    const controller = new AbortController();
    const release = this.#hold(queued, token, controller);
    const work = this.#run(job, queued, token, controller.signal);
    this.#running.set(key, { controller, ended: work.catch(() => undefined) });
    try {
      return await work;
    } catch (error) {
      if (controller.signal.reason === cancelled) return key;
      throw await this.#leave(job, queued, token, error, controller.signal);
    } finally {
      release();
      if (this.#running.get(key)?.controller === controller) this.#running.delete(key);
      if (controller.signal.reason === cancelled) await board.remove('cancelled', key);
    }
  }

  /** Gives back a job that has not ended. After a problem, this worker waits a little before somebody tries again. */
  async #leave({ id, run }: Job, queued: Queued, token: string, error: unknown, signal: AbortSignal): Promise<Error> {
    const { board, log, secrets } = this.#host;
    if (error instanceof Error && /^(?:Waiting|WaitingChildren|Delayed)Error$/.test(error.name)) return error;
    if (!signal.aborted) {
      const message = redact(error instanceof Error ? error.message : String(error), secrets);
      const problems = await board.add(`problems/${run}`, queued.id ?? '', 1);
      log(`${id}: ${message}`);
      if (problems >= maxProblems) return queueSignal('Unrecoverable', message);
      // Not as a delay of the queue, which a clock that is wrong would make longer.
      await pause(Math.min(500 * 2 ** problems, maxPauseMs), undefined, { signal }).catch(() => undefined);
    }
    // A job whose lock is lost belongs to somebody else.
    if (signal.reason !== lost) await queued.moveToWait(token);
    return queueSignal('Waiting');
  }

  async #run(job: Job, queued: Queued, token: string, signal: AbortSignal): Promise<string> {
    const { board, log, keys, engine } = this.#host;
    const queue = engine.queue(job.team);
    const key = jobKey(job);
    const attempt = await board.add(`attempts/${job.run}`, key, 1);
    log(`started ${job.id}${attempt > 1 ? `, attempt ${attempt}` : ''}`);
    const end = await runJob(
      {
        ...this.#host,
        job,
        key,
        attempt,
        async assertOwned() {
          if ((await board.get(`attempts/${job.run}`, key)) !== String(attempt)) throw lost;
          signal.throwIfAborted();
        },
        async addChild(child) {
          const options = jobOptions(jobKey(child), Math.max(1, (queued.opts.priority ?? 1) - 1));
          const parent = { id: key, queue: queue.qualifiedName };
          await queue.add('task', keys.seal('job', child), { ...options, parent, ignoreDependencyOnFailure: true });
        },
        findResults: (ids) => newResults({ board, queue, keys, run: job.run }, ids),
      },
      signal,
    );
    if (end.status === 'ended') {
      const { result } = end;
      log(`ended ${job.id}: ${result.status}`);
      // The first result counts.
      const sealed = JSON.stringify(keys.seal('result', result));
      const isFirst = await board.set(`results/${job.run}`, job.id, sealed, { ifAbsent: true });
      if (isFirst && result.status !== 'success') await board.add(`spent/${job.run}`, 'failed', 1);
      return key;
    }
    if (end.status === 'waiting') {
      log(`paused ${job.id}: it waits for its subagents`);
      if (!(await queued.moveToWaitingChildren(token))) await queued.moveToWait(token);
      throw queueSignal('WaitingChildren');
    }
    log(`parked ${job.id}: it waits for an answer`);
    await queued.moveToDelayed(Date.now() + parkMs, token);
    // An answer may have come just before.
    if (await end.isAnswered()) await queued.promote().catch(() => undefined);
    throw queueSignal('Delayed');
  }

  #read(queued: Queued, team: string): Job {
    try {
      const job = checkJob(this.#host.keys.open('job', queued.data).value);
      if (jobKey(job) !== queued.id) throw new Error('the job was put into the queue under another name');
      if (job.team !== team) throw new Error(`the job is for the team ${job.team}`);
      assertPermitted(job, this.#host);
      return job;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#host.log(`refused ${queued.id}: ${reason}`);
      throw queueSignal('Unrecoverable', reason);
    }
  }

  /** Renews the lock of a job. Without it for as long as it lasts, somebody else may have the job. */
  #hold(queued: Queued, token: string, controller: AbortController): () => void {
    const { lockMs } = this.#host;
    let renewedAt = performance.now();
    const renew = async () => {
      const now = performance.now();
      if (now - renewedAt > lockMs) return controller.abort(lost);
      // 0 when the lock is not ours any more; a server that is away rejects or does not answer.
      const answer = await queued.extendLock(token, lockMs).catch(() => undefined);
      if (answer === 0) controller.abort(lost);
      else if (answer !== undefined) renewedAt = now;
    };
    const timer = setInterval(() => void renew(), lockMs / 4);
    return () => clearInterval(timer);
  }

  async #beat(): Promise<void> {
    const { board, teams, jobs } = this.#host;
    await this.#isClockRight();
    const state = { seen: Date.now(), running: this.#running.size, jobs, teams };
    await board.set('workers', this.name, JSON.stringify(state));
  }

  /** A server that does not answer for a while is asked again later. */
  #every(ms: number, act: () => Promise<void>): void {
    this.#timers.push(setInterval(() => void act().catch(() => undefined), ms));
  }
}
