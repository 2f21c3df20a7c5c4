import type { ChildProcess } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { openFleet, pathIn } from '../../../testing/fleet.js';
import { type Hosts, makeHosts } from '../../../testing/hosts.js';
import { buildProgram } from '../../../testing/lathe-program.js';
import { isLong, report, seed } from '../../../testing/long-run.js';
import type { ServerRequest, ServerTurn } from '../../../testing/model-server.js';
import { hasPostgres, hasRedis, type QueueServer, startPostgres, startRedis } from '../../../testing/queue-servers.js';
import { pick, randomFrom } from '../../../testing/random.js';
import { clockVariables, setClock } from '../../../testing/shifted-clock.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { openQuestions } from './follow.js';
import { jobKey } from './job/job.js';
import type { Answer, Question } from './run/questions.js';

const workerCount = 4;
const lockSeconds = 3;
const diskMegabytes = 48;
/** `LATHE_CHAOS_TASKS` makes it shorter, to investigate a failure. */
const tasks = Number(process.env['LATHE_CHAOS_TASKS'] ?? 500);
const size = { tasks, faults: tasks * 0.6 };

beforeAll(() => buildProgram(), 300_000);

/**
 * Fills the disk of a worker, which is its own: a mount that only it sees. Never writes more than that disk holds, because
 * a worker that has just started may not have mounted it yet.
 */
function fillDisk({ pid }: ChildProcess, disk: string): () => void {
  const file = `/proc/${pid}/root${join(disk, 'fill')}`;
  try {
    const handle = openSync(file, 'w');
    try {
      for (let written = 0; written < diskMegabytes; written++) writeSync(handle, Buffer.alloc(1 << 20));
    } catch {
      // It is full.
    }
    closeSync(handle);
  } catch {
    // The worker has ended.
  }
  return () => rmSync(file, { force: true });
}

/**
 * Every task has one effect, a line in a file of its own. Some need an approval, which is given or denied by what the
 * task is called. The model is careful: it does not repeat a call that was interrupted.
 */
function answerOf({ body }: ServerRequest, effects: string): ServerTurn {
  const text = JSON.stringify(body['messages']);
  const [, id = ''] = /do task ([\w-]+)/.exec(text) ?? [];
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const last = JSON.stringify(messages.at(-1));
  const isResult = Reflect.get(Object(messages.at(-1)), 'role') === 'tool';
  const isAsked = messages.length > 2;
  if (isAsked && !isResult && !last.includes('waited for an approval')) return { text: 'interrupted' };
  if (isResult) return { text: last.includes(`did ${id}`) ? 'done' : 'not done' };
  const command = `echo ${id} >> ${join(effects, id)}; sleep 0.3; echo did ${id}`;
  return { calls: [{ name: 'run_shell_command', args: { command, directory: pathIn(body, '') } }] };
}

/** The faults and the output of the workers, to investigate a failure. */
function note(text: string): void {
  const file = process.env['LATHE_CHAOS_LOG'];
  if (file) appendFileSync(file, `${new Date().toISOString()} ${text}`);
}

interface Machine {
  child: ChildProcess;
  disk: string;
  clock: string;
}

const engines = [
  ['Redis', hasRedis, startRedis],
  ['PostgreSQL', hasPostgres, startPostgres],
] as const;

const isRoot = process.getuid?.() === 0;

for (const [name, isThere, start] of engines)
  test.skipIf(!isLong || !isThere || !isRoot)(
    `over ${name} every task ends once, whatever fails`,
    async () => {
      const hosts = makeHosts(workerCount);
      if (!hosts) throw new Error('no network namespaces could be made');
      onTestFinished(() => hosts.close());
      const server = await start(hosts.address);
      onTestFinished(() => server.close());
      expect(await survive(name, server, hosts)).toEqual([]);
    },
    60 * 60_000,
  );

async function survive(name: string, server: QueueServer, hosts: Hosts): Promise<unknown[]> {
  const random = randomFrom(seed);
  const effects = tempDirectory();
  const fleet = await openFleet(server, [(request) => answerOf(request, effects)], { host: hosts.address });
  const { board, queue, keys, run } = fleet;
  const scratch = tempDirectory();
  const launch = (at: number, clock: string): Machine => {
    const disk = join(scratch, `disk${at}`);
    mkdirSync(join(disk), { recursive: true });
    const home = join(disk, 'home');
    const prepare = `mount -t tmpfs -o size=${diskMegabytes}m tmpfs ${disk} && mkdir -p ${home} && cp -r ${join(scratch, 'keys')} ${home}/.lathe && exec "$@"`;
    const prefix = [...(hosts.prefixes[at] ?? []), 'unshare', '-m', 'sh', '-c', prepare, 'sh'];
    const flags = ['--lock', String(lockSeconds), '--jobs', '4', '--max-mode', 'yolo', '--sandbox', 'off'];
    const env = { HOME: home, ...clockVariables(clock) };
    const child = fleet.workerProcess([...flags, '--directory', join(disk, 'work'), '--answer-wait', '2'], env, prefix);
    child.stderr?.on('data', (data: Buffer) => note(`${at} ${data.toString()}`));
    // A worker that cannot reach the queue when it starts ends; systemd would start it again.
    child.once('exit', () => {
      if (machines[at]?.child === child && !over.signal.aborted) machines[at] = launch(at, clock);
    });
    return { child, disk, clock };
  };
  const over = new AbortController();
  onTestFinished(() => over.abort());
  mkdirSync(join(scratch, 'keys'));
  cpSync(join(fleet.home, '.lathe/fleet'), join(scratch, 'keys/fleet'), { recursive: true });
  const machines = Array.from({ length: workerCount }, (_, at) => {
    const clock = join(scratch, `clock${at}`);
    setClock(clock, 0);
    return launch(at, clock);
  });
  await fleet.workersReady(workerCount);
  const kinds = ['plain', 'plain', 'plain', 'approve', 'refuse'];
  const ids = Array.from({ length: size.tasks }, (_, at) => `${kinds[at % kinds.length]}-${at}`);
  const lines = ids.map((id) => {
    const mode = id.startsWith('plain') ? ('yolo' as const) : ('default' as const);
    return { id, prompt: `do task ${id}`, mode };
  });
  await fleet.submit(lines, { questions: 'park', validMs: 7 * 24 * 3600_000 });

  const answered = answerQuestions();
  const counts: Record<string, number> = {};
  const healing: Promise<unknown>[] = [];
  for (let fault = 0; fault < size.faults; fault++) {
    // Faults that come faster than tasks end would give up tasks whose workers died too often.
    const ended = Math.floor((fault * size.tasks) / size.faults);
    while ((await board.fields(`results/${run}`)).length < ended) await pause(100);
    await pause(random() * 1_500);
    const at = Math.floor(random() * workerCount);
    const kind = pick(random, ['kill', 'kill', 'server', 'network', 'disk', 'clock']);
    counts[kind] = (counts[kind] ?? 0) + 1;
    note(`fault ${fault}: ${kind} of ${at}\n`);
    healing.push(inject(kind, at, 500 + random() * 6_000, Math.round((random() - 0.5) * 7_200)));
    if (kind === 'server') await healing.at(-1);
  }
  await Promise.all(healing);
  const results = await fleet.results(ids, 20 * 60_000);
  over.abort();
  await answered;

  const effectsOf = (id: string) => {
    const file = join(effects, id);
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  };
  const wrong = results.filter(({ id, status, result }) => {
    const done = effectsOf(id);
    if (status !== 'success' || done.some((line) => line !== id) || done.length > 1) return true;
    if (id.startsWith('refuse')) return done.length > 0;
    return result === 'done' && done.length !== 1;
  });
  expect((await board.fields(`results/${run}`)).sort()).toEqual([...ids].sort());
  expect(readdirSync(effects).every((file) => ids.includes(file))).toBe(true);
  const interrupted = results.filter(({ result }) => result !== 'done' && result !== 'not done').length;
  report(`tasks of a fleet over ${name} with random faults`, size.tasks, { ...counts, interrupted });
  return wrong.map(({ id, status, result }) => ({ id, status, result, effects: effectsOf(id) }));

  async function inject(kind: string, at: number, ms: number, jump: number): Promise<void> {
    const machine = machines[at];
    if (!machine) return;
    if (kind === 'kill') {
      machines[at] = launch(at, machine.clock);
      machine.child.kill('SIGKILL');
    } else if (kind === 'server') {
      await server.kill();
      await pause(ms / 4);
      await server.start();
    } else if (kind === 'network') {
      hosts.cut(at);
      await pause(ms);
      hosts.heal(at);
    } else if (kind === 'disk') {
      const empty = fillDisk(machine.child, machine.disk);
      await pause(ms);
      empty();
    } else {
      setClock(machine.clock, jump);
      await pause(ms);
      setClock(machine.clock, 0);
    }
  }

  /** Answers by the name of the task in the text of the question, as a person would. */
  async function answerQuestions(): Promise<void> {
    while (!over.signal.aborted) {
      // A server that is away is asked again in the next round.
      for (const question of await openQuestions({ board, keys }).catch(() => []))
        if (question.team === fleet.team) await answer(question).catch(() => undefined);
      await pause(300);
    }
  }

  async function answer({ job, id, digest, number, text }: Question): Promise<void> {
    const isOfJob = jobKey({ run, id }) === job;
    const decision = !isOfJob || text.includes('refuse-') ? 'deny' : 'once';
    const given: Answer = { job, digest, number, decision };
    await board.set(`answers/${job}`, digest, JSON.stringify(keys.seal('answer', given)));
    const queued = await queue.getJob(job);
    if ((await queued?.getState()) === 'delayed') await queued?.promote();
  }
}
