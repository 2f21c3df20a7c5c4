import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { gitRepository, openFleet, pathIn, resultsIn, write } from '../../../testing/fleet.js';
import { buildProgram } from '../../../testing/lathe-program.js';
import { hasPostgres, hasRedis, type QueueServer, startPostgres, startRedis } from '../../../testing/queue-servers.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { getObject } from './files/store.js';
import { openQuestions } from './follow.js';
import { jobKey } from './job/job.js';
import { Keys } from './job/keys.js';
import type { Answer, Question } from './run/questions.js';

vi.setConfig({ testTimeout: 120_000 });

const servers = [
  ['Redis', hasRedis, startRedis],
  ['PostgreSQL', hasPostgres, startPostgres],
] as const;

describe.each(servers)('over %s', (_name, isThere, start) => {
  let server: QueueServer;
  beforeAll(async () => {
    if (isThere) server = await start();
    buildProgram();
  }, 300_000);
  afterAll(() => server?.close());

  test.skipIf(!isThere)('tasks run on workers, and their changes come back as patches', async () => {
    const fleet = await openFleet(server, [
      ({ body }) => (resultsIn(body) > 0 ? { text: 'Done.' } : write(body, 'made.txt')),
    ]);
    const repository = gitRepository({ 'a.txt': 'a\n', 'deep/b.txt': 'b\n' });
    await fleet.worker({ maxMode: 'auto-edit' });
    const task = { prompt: 'make a file', mode: 'auto-edit' as const };
    await fleet.submit(
      [
        { ...task, id: 't1' },
        { ...task, id: 't2', cwd: 'deep' },
        { ...task, id: 't3' },
      ],
      {
        cwd: repository,
      },
    );
    const results = await fleet.results(['t1', 't2', 't3']);
    expect(results.map(({ id, status, result, files }) => ({ id, status, result, files }))).toEqual(
      ['t1', 't2', 't3'].map((id) => ({
        id,
        status: 'success',
        result: 'Done.',
        files: [id === 't2' ? 'deep/made.txt' : 'made.txt'],
      })),
    );
    const patch = await getObject(fleet.store, results[0]?.patch ?? '');
    execFileSync('git', ['apply'], { cwd: repository, input: patch });
    expect(readFileSync(join(repository, 'made.txt'), 'utf8')).toBe('x');
  });

  test.skipIf(!isThere)('a question waits for a signed answer, which holds once for exactly that call', async () => {
    const fleet = await openFleet(server, [
      ({ body }) => (JSON.stringify(body).includes('Created ') ? { text: 'Asked.' } : write(body, 'x.txt')),
    ]);
    const { board, queue, keys, run } = fleet;
    const { log } = await fleet.worker({ answerWaitMs: 200 });
    await fleet.submit([{ id: 'q', prompt: 'write x' }], { questions: 'park' });
    const key = jobKey({ run, id: 'q' });
    const isParked = async (times: number) => {
      await expect.poll(() => log.filter((line) => line.includes('parked')).length).toBe(times);
    };
    await isParked(1);
    const question = await fleet.question();
    expect(question).toMatchObject({ id: 'q', tool: 'write_file', text: expect.stringContaining('x.txt') });
    const give = async (answer: Answer, by: Keys = keys) => {
      await board.set(`answers/${key}`, question.digest, JSON.stringify(by.seal('answer', answer)));
      await expect.poll(async () => (await queue.getJob(key))?.getState()).toBe('delayed');
      await (await queue.getJob(key))?.promote();
    };
    const answer: Answer = { job: key, digest: question.digest, number: question.number, decision: 'once' };
    await give(answer, new Keys(tempDirectory()));
    await isParked(2);
    await give({ ...answer, number: 'of an earlier question' });
    await isParked(3);
    await give({ ...answer, digest: 'f'.repeat(64) });
    await isParked(4);
    // Somebody who can write to the queue cannot put another text under the digest.
    const forged: Question = { ...question, text: 'harmless' };
    await board.set('questions', `${key}.x`, JSON.stringify(new Keys(tempDirectory()).seal('question', forged)));
    expect((await fleet.lathe(['answer'])).stdout).not.toContain('harmless');
    const said = await fleet.lathe(['answer', question.digest.slice(0, 12), 'once']);
    expect(said).toMatchObject({ code: 0, stdout: 'once: q\n' });
    const [result] = await fleet.results(['q']);
    expect(result).toMatchObject({ status: 'success', files: ['x.txt'] });
    expect(result?.answers).toEqual([`this machine: once (write_file, call ${question.digest.slice(0, 12)})`]);
    const audit = readFileSync(join(fleet.home, '.lathe/audit/calls.jsonl'), 'utf8');
    expect(audit).toContain('"decision":{"outcome":"once","by":"this machine"}');
  });

  test.skipIf(!isThere)('a question that its task no longer has is not shown', async () => {
    const fleet = await openFleet(server, [
      ({ body }) =>
        JSON.stringify(body).includes('waited for an approval') ? { text: 'Not needed.' } : write(body, 'x.txt'),
    ]);
    await fleet.worker({ answerWaitMs: 100 });
    await fleet.submit([{ id: 'q', prompt: 'write x' }], { questions: 'park' });
    const { digest } = await fleet.question();
    await fleet.lathe(['answer', digest.slice(0, 12), 'once']);
    expect(await fleet.results(['q'])).toMatchObject([{ status: 'success', result: 'Not needed.' }]);
    expect((await openQuestions(fleet)).filter(({ run }) => run === fleet.run)).toEqual([]);
  });

  test.skipIf(!isThere)('a question that nobody answers is denied where the run says so', async () => {
    const fleet = await openFleet(server, [
      ({ body }) => (resultsIn(body) > 0 ? { text: 'It was denied.' } : write(body, 'x.txt')),
    ]);
    await fleet.worker({ answerWaitMs: 100 });
    await fleet.submit([{ id: 'q', prompt: 'write x' }], { questions: 'deny' });
    const [result] = await fleet.results(['q']);
    expect(result).toMatchObject({ status: 'success', result: 'It was denied.' });
    expect(result?.files).toBeUndefined();
    const key = jobKey({ run: fleet.run, id: 'q' });
    expect((await fleet.board.fields('questions')).filter((field) => field.startsWith(key))).toEqual([]);
  });

  test.skipIf(!isThere)('a forged, loosened, renamed or expired job is refused, and the reason is kept', async () => {
    const fleet = await openFleet(server, [{ text: 'ran' }]);
    const { run, team, queue, keys } = fleet;
    const stranger = new Keys(tempDirectory());
    await fleet.submit([{ id: 'loose', prompt: 'p', mode: 'yolo' }]);
    await fleet.submit([{ id: 'old', prompt: 'p' }], { validMs: -1 });
    const good = { id: 'forged', run, team, prompt: 'p', questions: 'deny', expires: Date.now() + 60_000 };
    const add = (sealed: ReturnType<Keys['seal']>, id: string) =>
      queue.add('task', sealed, { jobId: jobKey({ run, id }) });
    await add(stranger.seal('job', good), 'forged');
    await add(keys.seal('job', { ...good, id: 'other' }), 'renamed');
    await add(keys.seal('job', { ...good, id: 'team', team: 'another' }), 'team');
    await add(keys.seal('answer', { ...good, id: 'kind' }), 'kind');
    await add(keys.seal('job', { ...good, id: 'extra', allow: ['run_shell_command'] }), 'extra');
    await add({ ...keys.seal('job', good), body: JSON.stringify({ ...good, prompt: 'changed' }) }, 'changed');
    await fleet.worker();
    const ids = ['loose', 'old', 'forged', 'renamed', 'team', 'kind', 'extra', 'changed'];
    const results = await fleet.results(ids);
    expect(Object.fromEntries(results.map(({ id, status, result }) => [id, `${status}: ${result}`]))).toEqual({
      loose: 'error: the job wants the mode yolo, but this worker runs at most default',
      old: 'error: the job has expired',
      forged: 'error: the job is signed by a key that this machine does not trust',
      renamed: 'error: the job was put into the queue under another name',
      team: 'error: the job is for the team another',
      kind: 'error: this is not a signed job',
      extra: expect.stringContaining('error: the job is not valid:'),
      changed: 'error: the signature of the job is wrong',
    });
    expect(fleet.model.requests).toEqual([]);
    const { stdout } = await fleet.lathe(['status', '--team', team]);
    expect(stdout).toContain('8 given up');
    expect(stdout).toContain(`given up old of run ${run}: the job has expired`);
  });

  test.skipIf(!isThere)('a job that ran does not run again when somebody puts it there again', async () => {
    const fleet = await openFleet(server, [{ text: 'ran' }]);
    await fleet.worker();
    await fleet.submit([{ id: 'once', prompt: 'p' }]);
    await fleet.results(['once']);
    const key = jobKey({ run: fleet.run, id: 'once' });
    const queued = await fleet.queue.getJob(key);
    await expect.poll(() => queued?.getState()).toBe('completed');
    const { data } = queued ?? {};
    await queued?.remove();
    if (data) await fleet.queue.add('task', data, { jobId: key });
    await expect.poll(async () => (await fleet.queue.getJob(key))?.getState()).toBe('completed');
    expect(fleet.model.requests.length).toBe(1);
  });

  test.skipIf(!isThere)('a job whose worker died continues after the last finished turn', async () => {
    let isSlow = true;
    const fleet = await openFleet(server, [
      ({ body }) => {
        if (resultsIn(body) === 0) return write(body, 'first.txt');
        if (isSlow) return { text: 'never', fault: { kind: 'stall', afterBytes: 0 } };
        return resultsIn(body) > 1 ? { text: 'Both.' } : write(body, 'second.txt');
      },
    ]);
    const first = fleet.workerProcess(['--lock', '2']);
    await fleet.submit([{ id: 'd', prompt: 'two files', mode: 'auto-edit' }]);
    const lastResults = () => resultsIn(fleet.model.requests.at(-1)?.body ?? {});
    await expect.poll(lastResults, { timeout: 60_000 }).toBe(1);
    isSlow = false;
    first.kill('SIGKILL');
    const before = fleet.model.requests.length;
    await fleet.worker({ maxMode: 'auto-edit', lockMs: 2_000, root: join(fleet.home, 'another') });
    const [result] = await fleet.results(['d']);
    expect(result).toMatchObject({ status: 'success', result: 'Both.', files: ['first.txt', 'second.txt'] });
    const prompts = fleet.model.requests.map(({ body }) => JSON.stringify(body).includes('continues now'));
    expect(prompts.slice(before)).toEqual([true, true]);
    expect(result?.usage.inputTokens).toBeGreaterThan(0);
  });

  test.skipIf(!isThere)('a call that ran when its worker died is shown as interrupted and not run again', async () => {
    const fleet = await openFleet(server, [
      ({ body }) => {
        const text = JSON.stringify(body);
        if (resultsIn(body) > 0) return { text: /interrupted/i.test(text) ? 'It was interrupted.' : 'It ran.' };
        const command = `echo ran >> ${pathIn(body, '../../../../effects')}; sleep 60`;
        return { calls: [{ name: 'run_shell_command', args: { command } }] };
      },
    ]);
    const first = fleet.workerProcess(['--lock', '2', '--max-mode', 'yolo', '--sandbox', 'off']);
    await fleet.submit([{ id: 'e', prompt: 'one effect', mode: 'yolo' }]);
    const effects = join(fleet.home, '.local/state/lathe-fleet/effects');
    const read = () => {
      try {
        return readFileSync(effects, 'utf8');
      } catch {
        return '';
      }
    };
    await expect.poll(read, { timeout: 60_000 }).toBe('ran\n');
    first.kill('SIGKILL');
    await fleet.worker({ maxMode: 'yolo', lockMs: 2_000, sandbox: 'off', root: join(fleet.home, 'another') });
    expect(await fleet.results(['e'])).toMatchObject([{ status: 'success', result: 'It was interrupted.' }]);
    expect(read()).toBe('ran\n');
  });
});
