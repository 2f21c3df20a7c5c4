import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { group, NotThere } from '../case.mjs';
import { lathe } from '../clis.mjs';
import { modelStub } from '../model-stub.mjs';

const redis = '/usr/bin/redis-server';
const tasks = 20;
const jobs = 2;

/** A repository, a file of tasks that each read one file, and a model. */
async function open(place) {
  const stub = await modelStub();
  const cwd = join(place.scratch, 'repository');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'a.txt'), 'a\n');
  const author = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.org'];
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    [...author, 'commit', '-qm', 'all'],
  ])
    spawnSync('git', args, { cwd });
  const lines = Array.from({ length: tasks }, (_, n) => JSON.stringify({ id: `t${n}`, prompt: 'go' }));
  writeFileSync(join(cwd, 'tasks.jsonl'), `${lines.join('\n')}\n`);
  const { command, args, env } = lathe.open(place, stub.url);
  const start = (words, options = {}) => spawn(command, [...args, ...words], { cwd, env, stdio: 'ignore', ...options });
  const out = join(place.scratch, 'results.jsonl');
  const run = async (words) => {
    rmSync(out, { force: true });
    stub.reset({ turns: 0, width: 1 });
    const child = start([...words, 'tasks.jsonl', '--out', out]);
    const code = await new Promise((resolve) => child.on('close', resolve));
    const results = readFileSync(out, 'utf8').trim().split('\n');
    if (code !== 0 || results.length !== tasks) throw new Error(`code ${code}, ${results.length} results`);
    return results.join('\n');
  };
  return { start, run, close: () => stub.close() };
}

async function inFleet(place) {
  if (!existsSync(redis)) throw new NotThere('needs redis-server');
  const { start, run, close } = await open(place);
  const port = await freePort();
  const flags = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  const server = spawn(redis, ['--port', String(port), '--dir', place.scratch, ...flags], { stdio: 'ignore' });
  const queue = ['--queue', `redis://127.0.0.1:${port}`];
  await wait(500);
  const worker = start(['fleet', 'worker', ...queue, '--jobs', String(jobs)]);
  const end = () => {
    worker.kill('SIGKILL');
    server.kill('SIGKILL');
    close();
  };
  let count = 0;
  return { run: () => run(['fleet', 'run', ...queue, '--run', `r${count++}`]), close: end };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export const cases = group('fleet', [
  {
    name: `${tasks} tasks through a queue, ${jobs} at once`,
    note: 'one worker and Redis, which writes each change to the disk; raw is lathe batch with the same file',
    contestants: {
      raw: async (place) => {
        const { run, close } = await open(place);
        return { run: () => run(['batch', '--jobs', String(jobs)]), close };
      },
      lathe: inFleet,
    },
    verify: (output) => output.split('\n').every((line) => JSON.parse(line).status === 'success'),
    goals: [{ metric: 'time', than: 'raw', limit: 2 }],
    timeoutMs: 60_000,
    rounds: 3,
  },
]);
