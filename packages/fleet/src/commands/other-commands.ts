import { redact, visibleText } from '@lathe/core/host';
import { openQuestions } from '../follow.js';
import { type Job, jobKey } from '../job/job.js';
import { newResult, readResult } from '../job/result.js';
import { type Answer, closeQuestions, type Question } from '../run/questions.js';
import { choice, flagsOf, texts } from './flags.js';
import { type FleetIo, FleetUsageError } from './io.js';
import { common, runOf, withFleet } from './open-fleet.js';
import { asLine } from './run-command.js';

const unfinished = ['waiting', 'prioritized', 'active', 'delayed', 'waiting-children'] as const;

/** `lathe fleet cancel --run NAME [ID…]`: at once for tasks that wait, within a second for those that run. */
export function cancelCommand(args: string[], io: FleetIo): Promise<number> {
  const { values, positionals } = flagsOf(args, { ...common, ...texts('team', 'run') });
  return withFleet(values, io, async ({ engine, board, keys }) => {
    const run = await runOf(values, board);
    const isNamed = (id = '') => positionals.length === 0 || positionals.includes(id);
    const queued = await engine.queue(values.team ?? 'default').getJobs([...unfinished]);
    const chosen = queued.flatMap((each) => {
      const job = keys.read<Job>('job', JSON.stringify(each.data))?.value;
      // The subagents of a task end with it.
      return job?.run === run && (isNamed(job.id) || isNamed(job.parent)) ? [{ each, id: job.id }] : [];
    });
    for (const { each, id } of chosen) {
      const result = newResult({ run, id }, { status: 'cancelled', result: 'The task was cancelled.' });
      await board.set(`results/${run}`, id, JSON.stringify(keys.seal('result', result)), { ifAbsent: true });
      // A job that runs is locked and cannot be removed: its worker sees the mark.
      await each.remove().catch(() => board.set('cancelled', jobKey({ run, id }), '1'));
      await closeQuestions(board, jobKey({ run, id }));
    }
    const unknown = positionals.filter((id) => chosen.every((each) => each.id !== id));
    for (const id of unknown) io.err(`lathe: the run ${run} has no unfinished task ${id}`);
    io.out(`${chosen.length} tasks cancelled`);
    return unknown.length > 0 ? 1 : 0;
  });
}

/** `lathe fleet answer [DIGEST once|job|deny]`: shows the open questions, or answers one. */
export function answerCommand(args: string[], io: FleetIo): Promise<number> {
  const { values, positionals } = flagsOf(args, { ...common, ...texts('message') });
  const [digest, word] = positionals;
  return withFleet(values, io, async ({ engine, board, keys }) => {
    const questions = await openQuestions({ board, keys });
    if (digest === undefined) {
      io.out(questions.length === 0 ? 'There are no open questions.' : questions.map(describe).join('\n\n'));
      return 0;
    }
    const decision = choice('the answer', word, ['once', 'job', 'deny'] as const);
    if (!decision) throw new FleetUsageError('lathe fleet answer DIGEST once|job|deny');
    const matching = questions.filter((each) => each.digest.startsWith(digest));
    const [question, other] = matching;
    if (!question || other || digest.length < 6)
      throw new FleetUsageError(`${matching.length} open questions begin with ${digest}; see lathe fleet answer`);
    const { job, number, team, id } = question;
    const message = values.message === undefined ? {} : { message: redact(values.message) };
    const answer: Answer = { job, digest: question.digest, number, decision, ...message };
    await board.set(`answers/${job}`, question.digest, JSON.stringify(keys.seal('answer', answer)));
    // A parked job waits in no worker; one that still runs sees the answer itself.
    const queued = await engine.queue(team).getJob(job);
    if ((await queued?.getState()) === 'delayed') await queued?.promote();
    io.out(visibleText(`${decision}: ${id}`));
    return 0;
  });
}

function describe({ digest, id, run, worker, text }: Question): string {
  return visibleText(`${digest.slice(0, 12)}  task ${id} of run ${run}, on ${worker}\n${text}`);
}

/** `lathe fleet results --run NAME`: the results so far, as JSON lines. */
export function resultsCommand(args: string[], io: FleetIo): Promise<number> {
  const { values } = flagsOf(args, { ...common, ...texts('run') });
  return withFleet(values, io, async ({ board, keys, store }) => {
    const run = await runOf(values, board);
    for (const id of (await board.fields(`results/${run}`)).sort()) {
      const result = readResult(keys, await board.get(`results/${run}`, id), { run, id });
      io.out(JSON.stringify(await asLine(result, store)));
    }
    return 0;
  });
}
