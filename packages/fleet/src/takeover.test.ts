import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFleet, resultsIn, write } from '../../../testing/fleet.js';
import { buildProgram } from '../../../testing/lathe-program.js';
import { isLong, report } from '../../../testing/long-run.js';
import { hasPostgres, hasRedis, type QueueServer, startPostgres, startRedis } from '../../../testing/queue-servers.js';

const servers = [
  ['Redis', hasRedis, startRedis],
  ['PostgreSQL', hasPostgres, startPostgres],
] as const;
const ids = ['a', 'b', 'c', 'd'];

describe.each(servers)('over %s', (name, isThere, start) => {
  let server: QueueServer;
  beforeAll(async () => {
    if (!isLong || !isThere) return;
    server = await start();
    buildProgram();
  }, 300_000);
  afterAll(() => server?.close());

  test.skipIf(!isLong || !isThere)(
    'at the default settings, another worker continues the tasks of a dead one within a minute',
    async () => {
      let isFirst = true;
      const fleet = await openFleet(server, [
        ({ body }) => {
          if (resultsIn(body) === 0) return write(body, 'made.txt');
          return isFirst ? { text: 'never', fault: { kind: 'stall', afterBytes: 0 } } : { text: 'Done.' };
        },
      ]);
      const first = fleet.workerProcess(['--jobs', '4']);
      await fleet.submit(ids.map((id) => ({ id, prompt: 'make a file', mode: 'auto-edit' })));
      const stalled = () => fleet.model.requests.filter(({ body }) => resultsIn(body) > 0).length;
      await expect.poll(stalled, { timeout: 120_000 }).toBe(ids.length);
      fleet.workerProcess(['--jobs', '4']);
      await fleet.workersReady(2);
      isFirst = false;
      first.kill('SIGKILL');
      const killedAt = performance.now();
      const results = await fleet.results(ids, 180_000);
      const seconds = (performance.now() - killedAt) / 1_000;
      expect(results.map(({ result, files }) => ({ result, files }))).toEqual(
        ids.map(() => ({ result: 'Done.', files: ['made.txt'] })),
      );
      report(`takeover over ${name} at the default settings`, ids.length, { seconds: seconds.toFixed(1) });
      expect(seconds).toBeLessThan(60);
    },
    600_000,
  );
});
