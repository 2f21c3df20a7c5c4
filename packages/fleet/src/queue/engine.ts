import { setTimeout as pause } from 'node:timers/promises';
import type { JobsOptions, Queue, Job as QueuedJob, Worker } from 'bullmq';
import type { Sealed } from '../job/keys.js';
import { type Board, retentionSeconds } from './board.js';

/** What the queue carries: nothing but signed jobs. A finished one says where its result is. */
export type FleetQueue = Queue<Sealed, string>;
export type Queued = QueuedJob<Sealed, string>;

/** Runs one job; the token names the hold on it. Throw `queueSignal` when the job continues later. */
export type Processor = (job: Queued, token: string) => Promise<string>;

/** How long a worker that died keeps its jobs. Takeover follows within one and a half times this. */
export const defaultLockMs = 30_000;

/** A connection to the server behind a fleet. */
export interface Engine {
  readonly board: Board;
  queue(team: string): FleetQueue;
  startWorker(team: string, process: Processor, options: { concurrency: number; lockMs: number }): Worker;
  close(): Promise<void>;
}

/** A server that is away does not keep a program from ending. */
const closeMs = 2_000;
/** After this many deaths of workers, a job is given up. */
const maxDeaths = 10;
/** Workers count the problems with a job themselves; this only keeps an error of the queue from ending it. */
const attempts = 100;

/** How a job enters the queue. What has ended stays as long as its result. */
export function jobOptions(jobId: string, priority: number): JobsOptions {
  const kept = { age: retentionSeconds };
  return { jobId, priority, attempts, removeOnComplete: kept, removeOnFail: kept };
}

/** Tells the queue what becomes of a job that has not ended. It knows these errors by their name. */
export function queueSignal(name: 'Delayed' | 'Waiting' | 'WaitingChildren' | 'Unrecoverable', message = ''): Error {
  return Object.assign(new Error(message), { name: `${name}Error` });
}

/** Opens `redis://…`, `rediss://…` or `postgres://…`. Throws with a clear message when the server does not answer. */
export async function openEngine(url: string, onError: (message: string) => void): Promise<Engine> {
  const isRedis = /^rediss?:\/\//.test(url);
  if (!isRedis && !/^postgres(?:ql)?:\/\//.test(url))
    throw new Error('the queue must be an address such as redis://host:6379 or postgres://user@host/database');
  const bullmq = await import('bullmq');
  const { board, connection, factory, releaseJobs } = isRedis
    ? await openRedis(url)
    : await openPostgres(url, bullmq.createPostgresBackend);
  const queues = new Map<string, FleetQueue>();
  let reported = '';
  // A server that is away is reported once, not with every attempt to reach it.
  const report = ({ message }: Error) => {
    if (message !== reported) onError(message);
    reported = message;
  };
  return {
    board,
    queue(team) {
      const known = queues.get(team);
      if (known) return known;
      const queue: FleetQueue = Reflect.construct(bullmq.Queue, [nameOf(team), { connection }, factory]);
      queue.on('error', report);
      queues.set(team, queue);
      return queue;
    },
    startWorker(team, process, { concurrency, lockMs }) {
      const processor = (job: Queued, token = '') => process(job, token);
      // The processor renews the locks itself: the renewal of BullMQ stops while the clock is set back.
      const locks = { lockDuration: lockMs, stalledInterval: lockMs / 2, maxStalledCount: maxDeaths };
      const skipped = { skipLockRenewal: true, skipStalledCheck: releaseJobs !== undefined };
      const options = { connection, concurrency, ...locks, ...skipped };
      const worker: Worker = Reflect.construct(bullmq.Worker, [nameOf(team), processor, options, factory]);
      worker.on('error', report);
      const look = () => void releaseJobs?.(nameOf(team), lockMs, maxDeaths).catch(report);
      const timer = setInterval(look, lockMs / 2);
      worker.on('closing', () => clearInterval(timer));
      return worker;
    },
    async close() {
      const closed = Promise.allSettled([...queues.values()].map((queue) => queue.close()));
      await Promise.race([closed, pause(closeMs, undefined, { ref: false })]);
      await board.close();
    },
  };
}

const nameOf = (team: string): string => `lathe-${team}`;

async function openRedis(url: string) {
  const [{ Redis }, { redisBoard }] = await Promise.all([import('ioredis'), import('./redis-board.js')]);
  let reason: unknown;
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: null });
  redis.on('error', (error) => (reason = error));
  // A server that was there comes back; one that never was is reported.
  await redis.connect().catch((error: unknown) => {
    redis.disconnect();
    unreachable('Redis', reason ?? error);
  });
  // BullMQ makes connections of its own from these options: workers block on theirs.
  const connection = { url, maxRetriesPerRequest: null };
  return { board: redisBoard(redis), connection, factory: undefined, releaseJobs: undefined };
}

async function openPostgres(url: string, factory: typeof import('bullmq').createPostgresBackend) {
  const [{ default: pg }, { postgresBoard }, locks] = await Promise.all([
    import('pg'),
    import('./postgres-board.js'),
    import('./postgres-locks.js'),
  ]);
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined);
  await pool.query('select 1').catch(async (error: unknown) => {
    await pool.end();
    unreachable('PostgreSQL', error);
  });
  const connection = { connectionString: url, migrate: true, max: 8 };
  return { board: postgresBoard(pool), connection, factory, releaseJobs: locks.releaseJobs.bind(undefined, pool) };
}

/** Addresses of queues may hold passwords, so the message names none. */
function unreachable(server: string, error: unknown): never {
  const said = error instanceof Error ? error.message || String(Reflect.get(error, 'code')) : String(error);
  const reason = said.startsWith('NOAUTH') ? 'NOAUTH: add the password, as in redis://:PASSWORD@host:6379' : said;
  throw new Error(`the queue cannot be reached: ${server} says ${JSON.stringify(reason)}`, { cause: error });
}
