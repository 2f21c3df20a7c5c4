import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openFleet } from '../../../testing/fleet.js';
import { buildProgram, runProgram } from '../../../testing/lathe-program.js';
import { hasPostgres, hasRedis, type QueueServer, startPostgres, startRedis } from '../../../testing/queue-servers.js';
import { canShiftClock, clockVariables, setClock } from '../../../testing/shifted-clock.js';
import { tempDirectory } from '../../../testing/temp-directory.js';

vi.setConfig({ testTimeout: 120_000 });

const servers = [
  ['Redis', hasRedis, startRedis],
  ['PostgreSQL', hasPostgres, startPostgres],
] as const;
const stall = { text: 'never', fault: { kind: 'stall', afterBytes: 0 } } as const;
const lockSeconds = 6;

describe.each(servers)('over %s', (name, isThere, start) => {
  let server: QueueServer;
  beforeAll(async () => {
    if (isThere) server = await start();
    buildProgram();
  }, 300_000);
  afterAll(() => server?.close());

  const open = async (script: Parameters<typeof openFleet>[1]) => {
    const fleet = await openFleet(server, script);
    const clock = join(tempDirectory(), 'clock');
    setClock(clock, 0);
    let errors = '';
    const launch = () => {
      const child = fleet.workerProcess(['--lock', String(lockSeconds)], clockVariables(clock));
      child.stderr?.on('data', (data: Buffer) => (errors += data.toString()));
      return child;
    };
    return { ...fleet, clock, launch, errors: () => errors };
  };

  test.skipIf(!isThere || !canShiftClock)('a worker whose clock is wrong does not start, and says why', async () => {
    const { clock, launch, errors } = await open([stall]);
    setClock(clock, -19 * 60);
    const child = launch();
    await expect.poll(() => child.exitCode, { timeout: 30_000 }).toBe(1);
    expect(errors()).toMatch(
      /the clock of this machine is 1140 s behind the clock of the queue's server.*at most 2 s/s,
    );
  });

  test.skipIf(!isThere || !canShiftClock)('doctor names a clock that is wrong', async () => {
    const { clock, home } = await open([stall]);
    setClock(clock, 19 * 60);
    const env = { LATHE_FLEET_QUEUE: server.url, ...clockVariables(clock) };
    const { stdout } = await runProgram(['doctor'], { home, cwd: home, env });
    expect(stdout).toMatch(
      /BAD {3}fleet: the clock of this machine is 11(?:39|40) s ahead of the clock of the queue's server/,
    );
  });

  test.skipIf(!isThere || !canShiftClock)(
    'a worker whose clock jumps gives its jobs back, and takes jobs again when the clock is right',
    async () => {
      const fleet = await open([stall, { text: 'Done.' }]);
      const { model, clock, launch, errors } = fleet;
      launch();
      await fleet.submit([{ id: 't', prompt: 'p' }]);
      await expect.poll(() => model.requests.length, { timeout: 60_000 }).toBe(1);
      setClock(clock, 19 * 60);
      await expect.poll(errors, { timeout: 30_000 }).toMatch(/1140 s ahead/);
      const [job] = await fleet.queue.getJobs();
      await expect.poll(() => job?.getState(), { timeout: 30_000 }).toBe('prioritized');
      setClock(clock, 0);
      const [result] = await fleet.results(['t']);
      expect(result).toMatchObject({ status: 'success', result: 'Done.' });
      expect(errors()).toContain('the clock is right again');
    },
  );

  test.skipIf(!isThere || name !== 'PostgreSQL')(
    'a lock that a wrong clock has set too far into the future does not outlive its worker',
    async () => {
      const fleet = await open([stall, { text: 'Done.' }]);
      const dying = fleet.launch();
      await fleet.submit([{ id: 't', prompt: 'p' }]);
      await expect.poll(() => fleet.model.requests.length, { timeout: 60_000 }).toBe(1);
      dying.kill('SIGKILL');
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      onTestFinished(() => client.end());
      const wrong = Date.now() + 19 * 60_000;
      await client.query(`update bullmq.job set locked_until_ms = ${wrong} where state = 'active'`);
      await client.query(`update bullmq.meta set value = '${wrong}' where field = 'stalled-check'`);
      await fleet.worker({ lockMs: lockSeconds * 1_000 });
      const [result] = await fleet.results(['t']);
      expect(result).toMatchObject({ status: 'success', result: 'Done.' });
    },
  );
});
