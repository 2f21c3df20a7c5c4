import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskLine } from '@lathe/agent';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildProgram, modelVariables } from '../../../testing/lathe-program.js';
import { modelServer, type ServerScript } from '../../../testing/model-server.js';
import { hasPostgres, hasRedis, type QueueServer, startPostgres, startRedis } from '../../../testing/queue-servers.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { openStore } from './files/open-store.js';
import { getObject } from './files/store.js';
import { newResults, openQuestions } from './follow.js';
import { type JobResult, jobKey } from './job/job.js';
import { Keys } from './job/keys.js';
import { type Engine, openEngine } from './queue/engine.js';
import type { Answer } from './run/questions.js';
import { type SubmitOptions, submit } from './submit.js';
import { FleetWorker, type FleetWorkerOptions } from './worker.js';

const never = new AbortController().signal;
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
    const repository = gitRepository({ 'a.txt': 'a\n' });
    await fleet.worker({ maxMode: 'auto-edit' });
    const tasks = [1, 2, 3].map((n) => ({ id: `t${n}`, prompt: `make a file ${n}`, mode: 'auto-edit' as const }));
    await fleet.submit(tasks, { cwd: repository });
    const results = await fleet.results(['t1', 't2', 't3']);
    expect(results.map(({ id, status, result, files }) => ({ id, status, result, files }))).toEqual(
      ['t1', 't2', 't3'].map((id) => ({ id, status: 'success', result: 'Done.', files: ['made.txt'] })),
    );
    const patch = await getObject(fleet.store, results[0]?.patch ?? '');
    execFileSync('git', ['apply'], { cwd: repository, input: patch });
    expect(readFileSync(join(repository, 'made.txt'), 'utf8')).toBe('x');
  });

  test.skipIf(!isThere)('a question waits for a signed answer, which holds for exactly that call', async () => {
    const fleet = await openFleet(server, [
      ({ body }) => (hasSucceeded(body) ? { text: 'Asked.' } : write(body, 'x.txt')),
    ]);
    await fleet.worker({ answerWaitMs: 200 });
    await fleet.submit([{ id: 'q', prompt: 'write x' }], { questions: 'park' });
    const question = await expect
      .poll(async () => (await openQuestions(fleet.engine.board)).find(({ run: name }) => name === fleet.run))
      .toMatchObject({ id: 'q', tool: 'write_file' })
      .then(async () => (await openQuestions(fleet.engine.board)).find(({ run: name }) => name === fleet.run));
    const queue = fleet.engine.queue('default');
    const key = jobKey({ run: fleet.run, id: 'q' });
    await expect.poll(async () => (await queue.getJob(key))?.getState()).toBe('delayed');
    const answer: Answer = { job: key, digest: question?.digest ?? '', decision: 'once' };
    const stranger = Keys.open(tempDirectory());
    await fleet.engine.board.set(`answers/${key}`, answer.digest, JSON.stringify(stranger.seal('answer', answer)));
    await (await queue.getJob(key))?.promote();
    await expect.poll(async () => (await queue.getJob(key))?.getState()).toBe('delayed');
    await fleet.engine.board.set(`answers/${key}`, answer.digest, JSON.stringify(fleet.keys.seal('answer', answer)));
    await (await queue.getJob(key))?.promote();
    expect(await fleet.results(['q'])).toMatchObject([{ status: 'success', files: ['x.txt'] }]);
  });

  test.skipIf(!isThere)('a forged, loosened, renamed or expired job is refused, and the reason is kept', async () => {
    const fleet = await openFleet(server, [{ text: 'ran' }]);
    const stranger = Keys.open(tempDirectory());
    await fleet.submit([{ id: 'loose', prompt: 'p', mode: 'yolo' }]);
    await fleet.submit([{ id: 'old', prompt: 'p' }], { validMs: -1 });
    const good = {
      id: 'forged',
      run: fleet.run,
      team: 'default',
      prompt: 'p',
      questions: 'deny',
      expires: Date.now() + 60_000,
    };
    const queue = fleet.engine.queue('default');
    const add = (sealed: ReturnType<Keys['seal']>, id: string) =>
      queue.add('task', sealed, { jobId: jobKey({ run: fleet.run, id }) });
    await add(stranger.seal('job', good), 'forged');
    await add(fleet.keys.seal('job', { ...good, id: 'other' }), 'renamed');
    await add(fleet.keys.seal('job', { ...good, id: 'extra', allow: ['run_shell_command'] }), 'extra');
    await add({ ...fleet.keys.seal('job', good), body: JSON.stringify({ ...good, prompt: 'changed' }) }, 'changed');
    await fleet.worker({});
    const ids = ['loose', 'old', 'forged', 'renamed', 'extra', 'changed'];
    const results = await fleet.results(ids);
    expect(Object.fromEntries(results.map(({ id, status, result }) => [id, `${status}: ${result}`]))).toEqual({
      loose: 'error: the job wants the mode yolo, but this worker runs at most default',
      old: 'error: the job has expired',
      forged: 'error: the job is signed by a key that this machine does not trust',
      renamed: 'error: the job was put into the queue under another name',
      extra: expect.stringContaining('error: the job is not valid:'),
      changed: 'error: the signature of the job is wrong',
    });
    expect(fleet.model.requests).toEqual([]);
  });

  test.skipIf(!isThere)('a job whose worker died goes on after the last finished turn', async () => {
    let isSlow = true;
    const fleet = await openFleet(server, [
      ({ body }) => {
        if (resultsIn(body) === 0) return write(body, 'first.txt');
        if (isSlow) return { text: 'never', fault: { kind: 'stall', afterBytes: 0 } };
        return resultsIn(body) > 1 ? { text: 'Both.' } : write(body, 'second.txt');
      },
    ]);
    const first = fleet.workerProcess('--max-mode', 'auto-edit', '--sandbox', 'auto', '--lock', '2');
    await fleet.submit([{ id: 'd', prompt: 'two files', mode: 'auto-edit' }]);
    await expect.poll(() => fleet.model.requests.length).toBe(2);
    isSlow = false;
    first.kill('SIGKILL');
    await fleet.worker({ maxMode: 'auto-edit', lockMs: 2_000 });
    const [result] = await fleet.results(['d']);
    expect(result).toMatchObject({ status: 'success', result: 'Both.', files: ['first.txt', 'second.txt'] });
    const prompts = fleet.model.requests.map(({ body }) => JSON.stringify(body).includes('goes on now'));
    expect(prompts).toEqual([false, false, true, true]);
  });
});

function write(body: unknown, name: string) {
  return { calls: [{ name: 'write_file', args: { file_path: pathIn(body, name), content: 'x' } }] };
}

/** How many results of calls the model has seen. */
function resultsIn(body: { readonly [key: string]: unknown }): number {
  const { messages } = body;
  return Array.isArray(messages) ? messages.filter((message) => Reflect.get(message, 'role') === 'tool').length : 0;
}

function hasSucceeded(body: { readonly [key: string]: unknown }): boolean {
  return JSON.stringify(body).includes('Created ');
}

/** A path in the working directory, which the instructions name. */
function pathIn(body: unknown, name: string): string {
  const [, directory = ''] =
    /(\/[^\s"'\\]*?\/(?:lathe-)?fleet\/jobs\/[0-9a-f]{40}\/work)/.exec(JSON.stringify(body)) ?? [];
  return join(directory, name);
}

function gitRepository(files: Record<string, string>): string {
  const directory = tempDirectory(files);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, stdio: 'ignore' });
  git('init', '-q');
  git('add', '.');
  git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'first');
  return directory;
}

let count = 0;

async function openFleet(server: QueueServer, script: ServerScript) {
  const model = await modelServer(script);
  const home = tempDirectory();
  const latheHome = join(home, '.lathe');
  const engine: Engine = await openEngine(server.url, () => undefined);
  onTestFinished(() => engine.close());
  const store = await openStore(undefined, engine.board, {});
  const keys = Keys.open(latheHome);
  const run = `run-${process.pid}-${count++}`;
  return {
    model,
    engine,
    store,
    keys,
    run,
    async worker(options: Partial<FleetWorkerOptions>) {
      const own = await openEngine(server.url, () => undefined);
      const worker = new FleetWorker({
        engine: own,
        store,
        keys,
        home,
        latheHome,
        root: join(home, 'fleet'),
        env: { PATH: process.env['PATH'], ...modelVariables('openai', model.url) },
        teams: ['default'],
        jobs: 4,
        lockMs: 30_000,
        maxMode: 'default',
        sandbox: 'auto',
        answerWaitMs: 1_000,
        log: () => undefined,
        ...options,
      });
      await worker.start();
      onTestFinished(async () => {
        await worker.close().catch(() => undefined);
        await own.close();
      });
    },
    /** A worker that can be killed. */
    workerProcess(...args: string[]): ChildProcess {
      const main = join(import.meta.dirname, '../../cli/dist/main.js');
      const child = spawn(process.execPath, [main, 'fleet', 'worker', '--queue', server.url, ...args], {
        cwd: home,
        env: { PATH: process.env['PATH'], HOME: home, ...modelVariables('openai', model.url) },
        stdio: 'ignore',
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    },
    submit: (tasks: TaskLine[], options: Partial<SubmitOptions> = {}) =>
      submit(
        tasks,
        {
          run,
          team: 'default',
          questions: 'deny',
          queue: engine.queue('default'),
          keys,
          store,
          cwd: tempDirectory(),
          priority: 10,
          validMs: 3600_000,
          secrets: [],
          ...options,
        },
        never,
      ),
    async results(ids: string[]): Promise<JobResult[]> {
      const found: JobResult[] = [];
      const state = { board: engine.board, queue: engine.queue('default'), keys, run };
      await expect
        .poll(async () => {
          found.push(...(await newResults(state, ids, new Set(found.map(({ id }) => id)))));
          return found.length;
        })
        .toBe(ids.length);
      return ids.flatMap((id) => found.find((result) => result.id === id) ?? []);
    },
  };
}
