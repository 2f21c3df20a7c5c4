import { redact, visibleText } from '@lathe/core/host';
import { openQuestions, readResult } from '../follow.js';
import { type Job, jobKey } from '../job/job.js';
import type { Answer } from '../run/questions.js';
import { cancelledResult } from '../worker.js';
import { choice, flagsOf } from './flags.js';
import { type FleetIo, FleetUsageError } from './io.js';
import { type Fleet, openFleet } from './open-fleet.js';
import { asLine } from './run-command.js';

export const common = { queue: { type: 'string' }, store: { type: 'string' }, team: { type: 'string' } } as const;
/** Opens the fleet, acts and closes it. */
export async function withFleet(
  values: { queue?: string; store?: string },
  io: FleetIo,
  act: (fleet: Fleet) => Promise<number>,
) {
  const fleet = await openFleet(values, io);
  try {
    return await act(fleet);
  } finally {
    await fleet.engine.close();
  }
}

/** `lathe fleet cancel ID…`: at once for tasks that wait, within a second for those that run. */
export function cancelCommand(args: readonly string[], io: FleetIo): Promise<number> {
  const { values, positionals } = flagsOf(args, { ...common, run: { type: 'string' } });
  const { run } = values;
  if (run === undefined) throw new FleetUsageError('name the run: --run NAME (lathe fleet run prints it)');
  return withFleet(values, io, async ({ engine, keys }) => {
    const queue = engine.queue(values.team ?? 'default');
    const ids =
      positionals.length > 0 ? positionals : await waitingIds(engine.queue(values.team ?? 'default'), keys, run);
    for (const id of ids) {
      const key = jobKey({ run, id });
      await engine.board.set('cancelled', key, '1');
      const job = await queue.getJob(key);
      if (!job) {
        io.err(`lathe: there is no task ${id} in the run ${run}`);
        continue;
      }
      // A job that runs is locked and cannot be removed: its worker sees the mark.
      const isRemoved = await job.remove().then(
        () => true,
        () => false,
      );
      if (!isRemoved) continue;
      const result = JSON.stringify(keys.seal('result', cancelledResult({ run, id })));
      await engine.board.set(`results/${run}`, id, result, { ifAbsent: true });
      await engine.board.remove('cancelled', key);
    }
    io.out(`${ids.length} tasks cancelled`);
    return 0;
  });
}

async function waitingIds(
  queue: ReturnType<Fleet['engine']['queue']>,
  keys: Fleet['keys'],
  run: string,
): Promise<string[]> {
  const jobs = await queue.getJobs(['waiting', 'prioritized', 'active', 'delayed']);
  return jobs.flatMap(({ data }) => {
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only its names are used
      const job = keys.open('job', data).value as Job;
      return job.run === run ? [job.id] : [];
    } catch {
      return [];
    }
  });
}

/** `lathe fleet answer [DIGEST once|job|deny]`: shows the open questions, or answers one. */
export function answerCommand(args: readonly string[], io: FleetIo): Promise<number> {
  const { values, positionals } = flagsOf(args, { ...common, message: { type: 'string' } });
  const [digest, word] = positionals;
  return withFleet(values, io, async ({ engine, keys }) => {
    const questions = await openQuestions(engine.board);
    if (digest === undefined) {
      if (questions.length === 0) io.out('There are no open questions.');
      for (const each of questions)
        io.out(
          visibleText(
            `${each.digest.slice(0, 12)}  task ${each.id} of run ${each.run}, on ${each.worker}\n${each.text}\n`,
          ),
        );
      return 0;
    }
    const decision = choice('the answer', word, ['once', 'job', 'deny'] as const);
    if (!decision) throw new FleetUsageError('lathe fleet answer DIGEST once|job|deny');
    const matching = questions.filter((each) => each.digest.startsWith(digest));
    const [question, other] = matching;
    if (!question || other || digest.length < 6)
      throw new FleetUsageError(`${matching.length} open questions begin with ${digest}; see lathe fleet answer`);
    const answer: Answer = {
      job: question.job,
      digest: question.digest,
      decision,
      ...(values.message && { message: redact(values.message) }),
    };
    await engine.board.set(`answers/${question.job}`, question.digest, JSON.stringify(keys.seal('answer', answer)));
    // A parked job waits in no worker; one that still runs sees the answer itself.
    const job = await engine.queue(values.team ?? 'default').getJob(question.job);
    if ((await job?.getState()) === 'delayed') await job?.promote();
    io.out(`${decision}: ${question.id}`);
    return 0;
  });
}

/** `lathe fleet results --run NAME`: the results so far, as JSON lines. */
export function resultsCommand(args: readonly string[], io: FleetIo): Promise<number> {
  const { values } = flagsOf(args, { ...common, run: { type: 'string' } });
  const { run } = values;
  if (run === undefined) throw new FleetUsageError('name the run: --run NAME (lathe fleet run prints it)');
  return withFleet(values, io, async ({ engine, keys, store }) => {
    for (const id of (await engine.board.fields(`results/${run}`)).sort()) {
      const stored = await engine.board.get(`results/${run}`, id);
      if (stored !== undefined) io.out(JSON.stringify(await asLine(readResult(keys, stored, { run, id }), store)));
    }
    return 0;
  });
}
