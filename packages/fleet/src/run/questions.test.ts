import type { ApprovalRequest } from '@lathe/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFleet } from '../../../../testing/fleet.js';
import {
  hasPostgres,
  hasRedis,
  type QueueServer,
  startPostgres,
  startRedis,
} from '../../../../testing/queue-servers.js';
import { openQuestions } from '../follow.js';
import { jobKey } from '../job/job.js';
import { type Answer, FleetApprover, type Question } from './questions.js';
import type { Work } from './shipped-session.js';

const request: ApprovalRequest = {
  callId: 'c',
  tool: 'write_file',
  displayName: 'WriteFile',
  description: 'x.txt',
  args: { file_path: 'x.txt', content: 'x' },
  confirmation: { type: 'exec', title: 'Run?', command: 'true', rootCommand: 'true', directory: '/work' },
  reason: 'the mode',
};
const never = new AbortController().signal;

const servers = [
  ['Redis', hasRedis, startRedis],
  ['PostgreSQL', hasPostgres, startPostgres],
] as const;

describe.each(servers)('over %s', (_name, isThere, start) => {
  let server: QueueServer;
  beforeAll(async () => {
    if (isThere) server = await start();
  }, 300_000);
  afterAll(() => server?.close());

  /** Two workers ask about the same call; the first has lost the job and does not know it. */
  const open = async () => {
    const fleet = await openFleet(server, [{ text: 'unused' }]);
    const { board, keys, run, team } = fleet;
    const key = jobKey({ run, id: 't' });
    const job = { id: 't', run, team, prompt: 'p', questions: 'park' as const, expires: 0 };
    const ask = (attempt: number, asked: Record<string, string> = {}) => {
      const work: Work = Object.create(null);
      const state = { children: [], asked, answers: [] };
      const checkout = { directory: '/work' };
      Object.assign(work, { job, key, board, keys, name: `worker ${attempt}`, attempt, state, checkout, secrets: [] });
      Object.assign(work, { answerWaitMs: 60_000 });
      return new FleetApprover(work, () => undefined).decide(request, never);
    };
    const questions = async () => (await openQuestions({ board, keys })).filter((question) => question.run === run);
    const asked = async (attempt: number): Promise<Question> => {
      await expect.poll(questions).toMatchObject([{ attempt }]);
      const [question] = await questions();
      if (!question) throw new Error('the question is gone');
      return question;
    };
    const answer = ({ job: of, digest, number }: Question) => {
      const given: Answer = { job: of, digest, number, decision: 'once' };
      return board.set(`answers/${of}`, digest, JSON.stringify(keys.seal('answer', given)));
    };
    return { ask, asked, answer };
  };
  const yes = { outcome: 'once', by: 'this machine' };

  test.skipIf(!isThere)('a worker that has lost a job does not remove the question of its successor', async () => {
    const { ask, asked, answer } = await open();
    const first = ask(1);
    const earlier = await asked(1);
    const second = ask(2);
    const later = await asked(2);
    await answer(earlier);
    expect(await first).toEqual(yes);
    expect(await asked(2)).toEqual(later);
    await answer(later);
    expect(await second).toEqual(yes);
  });

  test.skipIf(!isThere)('a worker that has lost a job leaves the answer to its successor', async () => {
    const { ask, asked, answer } = await open();
    const first = ask(1);
    const question = await asked(1);
    await answer(question);
    expect(await first).toEqual(yes);
    expect(await ask(2, { [question.digest]: question.number })).toEqual(yes);
  });
});
