import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { gitRepository, openFleet, resultsIn } from '../../../testing/fleet.js';
import { buildProgram, modelVariables } from '../../../testing/lathe-program.js';
import { isLong, report } from '../../../testing/long-run.js';
import type { ServerScript } from '../../../testing/model-server.js';
import { hasRedis, type QueueServer, startRedis } from '../../../testing/queue-servers.js';
import { tempDirectory } from '../../../testing/temp-directory.js';

const bareWorker = join(import.meta.dirname, '../testing/bullmq-tasks.mjs');
const workers = 4;
const jobs = 2;
/** Alternating, so that other work on the machine meets both. */
const rounds = isLong ? 4 : 1;
const tasksPerRound = isLong ? 250 : 10;
const longest = isLong ? 60 * 60_000 : 120_000;

/** Each task writes one file and ends. */
const script: ServerScript = [
  ({ body }) =>
    resultsIn(body) > 0
      ? { text: 'Done.' }
      : { calls: [{ name: 'write_file', args: { file_path: join(directoryIn(body), 'made.txt'), content: 'x\n' } }] },
];

/** The directory that the instructions of either kind of worker name. */
function directoryIn(body: unknown): string {
  return /Directory: (?:\\+")?(\/[^\s"\\,]+)/.exec(JSON.stringify(body))?.[1] ?? '';
}

let server: QueueServer;
beforeAll(async () => {
  if (hasRedis) server = await startRedis();
  buildProgram();
}, 300_000);
afterAll(() => server?.close());

const tasksOf = (round: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    id: `t${round}-${at}`,
    prompt: 'make a file',
    mode: 'auto-edit' as const,
  }));

test.skipIf(!hasRedis)(
  'a task through a fleet costs little more than the same task through BullMQ alone',
  async () => {
    const cwd = gitRepository({ 'a.txt': 'a\n', 'src/b.txt': 'b\n' });
    const fleet = await openFleet(server, script);
    const started = Array.from({ length: workers }, () => fleet.workerProcess(['--jobs', String(jobs)]));
    await fleet.workersReady(workers);
    const bare = new Queue(`bare-${process.pid}`, { connection: { url: server.url } });
    onTestFinished(() => bare.close());
    const others = Array.from({ length: workers }, () => bareProcess(bare.name, cwd, fleet.model.url));
    await Promise.all(others.map((child) => once(child, 'message')));
    let fleetMs = 0;
    let bareMs = 0;
    for (let round = 0; round < rounds; round++) {
      const tasks = tasksOf(round, tasksPerRound);
      const before = performance.now();
      await bare.addBulk(tasks.map((data) => ({ name: 'task', data })));
      const done = tasksPerRound * (round + 1);
      while ((await bare.getJobCounts('completed'))['completed'] !== done) await pause(20);
      const between = performance.now();
      await fleet.submit(tasks, { cwd });
      while ((await fleet.board.fields(`results/${fleet.run}`)).length !== done) await pause(20);
      bareMs += between - before;
      fleetMs += performance.now() - between;
    }
    const patches = (await bare.getJobs(['completed'])).map(({ returnvalue }) => JSON.parse(returnvalue).patch);
    expect(patches.every((patch) => String(patch).includes('made.txt'))).toBe(true);
    const count = rounds * tasksPerRound;
    const results = await fleet.results(tasksOf(rounds - 1, tasksPerRound).map(({ id }) => id));
    expect(results.every(({ status, files }) => status === 'success' && files?.join() === 'made.txt')).toBe(true);
    for (const child of [...started, ...others]) child.kill('SIGKILL');
    const ratio = fleetMs / bareMs;
    const facts = {
      'ms each in the fleet': Math.round(fleetMs / count),
      'ms each in BullMQ alone': Math.round(bareMs / count),
    };
    report('tasks of a fleet beside BullMQ alone', count, { ...facts, ratio: ratio.toFixed(2) });
    if (isLong) expect(ratio).toBeLessThanOrEqual(1.25);
  },
  longest,
);

test.skipIf(!hasRedis || !isLong)(
  'more workers do more, until the cores are full',
  async () => {
    const rates: number[] = [];
    for (const count of [1, 2, 4]) {
      // A model takes its time, as real ones do: a quarter of a second for each answer.
      const slow: ServerScript = [
        ({ body }) => ({
          ...(resultsIn(body) > 0
            ? { text: 'Done.' }
            : { calls: [{ name: 'list_directory', args: { path: directoryIn(body) } }] }),
          fault: { kind: 'slow', bytes: 100_000, everyMs: 250 },
        }),
      ];
      const fleet = await openFleet(server, slow);
      const started = Array.from({ length: count }, () => fleet.workerProcess(['--jobs', '1']));
      await fleet.workersReady(count);
      const before = performance.now();
      await fleet.submit(tasksOf(0, 60));
      while ((await fleet.board.fields(`results/${fleet.run}`)).length !== 60) await pause(20);
      rates.push(60_000 / (performance.now() - before));
      for (const child of started) child.kill('SIGKILL');
    }
    const [one = 0, two = 0, four = 0] = rates.map((rate) => Number(rate.toFixed(2)));
    report('workers, tasks per second', 3, { one, two, four });
    expect(two).toBeGreaterThan(one * 1.3);
    expect(four).toBeGreaterThan(two);
  },
  longest,
);

function bareProcess(name: string, cwd: string, model: string): ChildProcess {
  const env = { PATH: process.env['PATH'] ?? '', HOME: tempDirectory(), ...modelVariables('openai', model) };
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
  const child = spawn(process.execPath, [bareWorker, name, server.url, cwd, String(jobs)], { env, stdio: [...stdio] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}
