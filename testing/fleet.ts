import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { TaskLine } from '@lathe/agent';
import { expect, onTestFinished } from 'vitest';
import { openStore } from '../packages/fleet/src/files/open-store.js';
import { newResults, openQuestions } from '../packages/fleet/src/follow.js';
import { Keys } from '../packages/fleet/src/job/keys.js';
import type { JobResult } from '../packages/fleet/src/job/result.js';
import { openEngine } from '../packages/fleet/src/queue/engine.js';
import type { Question } from '../packages/fleet/src/run/questions.js';
import { type SubmitOptions, submit } from '../packages/fleet/src/submit.js';
import { FleetWorker, type FleetWorkerOptions } from '../packages/fleet/src/worker.js';
import { modelVariables, type ProgramResult, runProgram } from './lathe-program.js';
import { modelServer, type ServerScript } from './model-server.js';
import type { QueueServer } from './queue-servers.js';
import { tempDirectory } from './temp-directory.js';

const never = new AbortController().signal;
const main = join(import.meta.dirname, '../packages/cli/dist/main.cjs');
let count = 0;

/** A fleet on a queue server of the test: a model, a submitter, and as many workers as the test starts. */
export async function openFleet(
  server: QueueServer,
  script: ServerScript,
  { place, host }: { place?: string; host?: string } = {},
) {
  const model = await modelServer(script, host === undefined ? {} : { host });
  const home = tempDirectory();
  const latheHome = join(home, '.lathe');
  const engine = await openEngine(server.url, () => undefined);
  onTestFinished(() => engine.close());
  const { board } = engine;
  const store = await openStore(place, board, {});
  const keys = new Keys(latheHome);
  const run = `run-${process.pid}-${count++}`;
  // A team for each test, so that no worker takes jobs of another test.
  const team = run;
  const queue = engine.queue(team);
  const variables = { PATH: process.env['PATH'] ?? '', ...modelVariables('openai', model.url) };
  return {
    model,
    home,
    engine,
    board,
    queue,
    store,
    keys,
    run,
    team,
    async worker(options: Partial<FleetWorkerOptions> = {}) {
      const own = await openEngine(server.url, () => undefined);
      const log: string[] = [];
      const worker = new FleetWorker({
        engine: own,
        store,
        keys,
        home,
        latheHome,
        root: join(home, 'fleet'),
        env: variables,
        teams: [team],
        jobs: 4,
        lockMs: 30_000,
        maxMode: 'default',
        sandbox: 'auto',
        answerWaitMs: 1_000,
        secrets: [],
        log: (line) => void log.push(line),
        ...options,
      });
      await worker.start();
      const close = async () => {
        await worker.close().catch(() => undefined);
        await own.close();
      };
      onTestFinished(close);
      return { name: worker.name, log, close };
    },
    /** A worker that can be killed. */
    workerProcess(args: string[], env: Record<string, string> = {}, prefix: readonly string[] = []): ChildProcess {
      const flags = ['--queue', server.url, '--team', team, '--sandbox', 'auto', ...args];
      const [program = '', ...rest] = [...prefix, process.execPath, main, 'fleet', 'worker', ...flags];
      const child = spawn(program, rest, {
        cwd: home,
        env: { ...variables, HOME: home, ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    },
    /** Waits until so many workers of this fleet have started. */
    async workersReady(expected: number): Promise<void> {
      const isOurs = async (name: string) => ((await board.get('workers', name)) ?? '').includes(`"${team}"`);
      const here = async () => (await Promise.all((await board.fields('workers')).map(isOurs))).filter(Boolean).length;
      await expect.poll(here, { timeout: 60_000 }).toBe(expected);
    },
    /** `lathe fleet …` as the submitter. */
    lathe: (args: string[], cwd = home): Promise<ProgramResult> =>
      runProgram(['fleet', ...args], { home, cwd, env: { LATHE_FLEET_QUEUE: server.url } }),
    submit: (tasks: TaskLine[], options: Partial<SubmitOptions> = {}) =>
      submit(
        tasks,
        {
          run,
          team,
          questions: 'deny',
          board,
          queue,
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
    async results(ids: string[], timeout = 60_000): Promise<JobResult[]> {
      const found: JobResult[] = [];
      const state = { board, queue, keys, run };
      const known = () => new Set(found.map(({ id }) => id));
      const missing = () => ids.filter((id) => !known().has(id)).join(' ');
      await expect
        .poll(async () => found.push(...(await newResults(state, ids, known()))) && missing(), { timeout })
        .toBe('');
      return ids.flatMap((id) => found.find((result) => result.id === id) ?? []);
    },
    /** Waits for a question of this run. */
    async question(): Promise<Question> {
      const find = async () => (await openQuestions({ board, keys })).find((question) => question.run === run);
      await expect.poll(find, { timeout: 30_000 }).toBeDefined();
      const found = await find();
      if (!found) throw new Error('the question is gone');
      return found;
    },
  };
}

/** What a model that writes one file into the working directory answers. */
export function write(body: unknown, name: string, content = 'x') {
  return { calls: [{ name: 'write_file', args: { file_path: pathIn(body, name), content } }] };
}

/** How many results of calls the model has seen. */
export function resultsIn(body: { readonly [key: string]: unknown }): number {
  const { messages } = body;
  return Array.isArray(messages) ? messages.filter((message) => Reflect.get(message, 'role') === 'tool').length : 0;
}

/** A path in the working directory, which the last message or the instructions name. */
export function pathIn(body: unknown, name: string): string {
  const text = JSON.stringify(body);
  const place = /\/[^\s"'\\]*?\/jobs\/[0-9a-f]{40}\/work[\w/]*/;
  const said = [...text.matchAll(new RegExp(`Working directory: (${place.source})`, 'g'))].at(-1)?.[1];
  return join(said ?? place.exec(text)?.[0] ?? '', name);
}

export function gitRepository(files: Record<string, string>): string {
  const directory = tempDirectory(files);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, stdio: 'ignore' });
  git('init', '-q');
  git('add', '.');
  git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'first');
  return directory;
}
