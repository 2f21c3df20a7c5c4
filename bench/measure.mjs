// Measures a case: every contestant in a process of its own, run in turns, so that a busy moment of the machine meets all alike.
import { fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nodeOf } from './peers.mjs';

/** A contestant that has run for so long in all is not run again, nor is anybody once all rounds after the first have. */
const patience = { quick: { contestantMs: 4_000, caseMs: 15_000 }, whole: { contestantMs: 12_000, caseMs: 60_000 } };

/** Loading a library and getting it ready may take so long. */
const readyMs = 180_000;

/**
 * @param {import('./case.mjs').Case & { file: string }} one
 * @param {{ place: object, scratch: string, rounds: number, timeoutMs: number, isIncluded: (contestant: string) => boolean }} options
 * @returns {Promise<Record<string, Result>>}
 * @typedef {{ missing: string } | { rounds: number, output: number, isRight: boolean, error?: string,
 *   time: number, memory: number, stall: number, count?: number, times: number[] }} Result medians; memory the largest
 */
export async function measure(one, options) {
  const names = Object.keys(one.contestants).filter(options.isIncluded);
  const runners = names.map((name) => start(one, name, options));
  try {
    // The first round warms caches and compilers; it counts only for a program that is too slow for a second one.
    for (const runner of runners) await runner.run();
    const { contestantMs, caseMs } = options.place.isQuick ? patience.quick : patience.whole;
    const end = performance.now() + caseMs;
    const rounds = Math.min(options.rounds, one.rounds ?? 7);
    for (let round = 0; round < rounds; round++)
      for (const runner of runners) if (runner.spent() < contestantMs && performance.now() < end) await runner.run();
    return Object.fromEntries(runners.map((runner) => [runner.name, summary(one, runner, options.place)]));
  } finally {
    await Promise.all(runners.map((runner) => runner.stop()));
  }
}

function start(one, name, { place, scratch, timeoutMs: usual }) {
  // The limit runs first, and reads from the disk what the others find in memory.
  const timeoutMs = name === 'raw' ? 90_000 : (one.timeoutMs ?? usual);
  mkdirSync(scratch, { recursive: true });
  const own = mkdtempSync(join(scratch, 'run-'));
  const task = { file: one.file, name: one.name, contestant: name, place: { ...place, scratch: own } };
  const child = fork(join(import.meta.dirname, 'worker.mjs'), [JSON.stringify(task)], {
    execPath: nodeOf(place.peers, name),
    execArgv: ['--expose-gc', '--max-old-space-size=4096'],
    stdio: ['ignore', 'ignore', process.env.LATHE_BENCH_DEBUG ? 'inherit' : 'ignore', 'ipc'],
    // A group of its own, so that whatever a contestant started can be ended with it.
    detached: true,
    cwd: own,
  });
  const samples = [];
  let missing;
  let spent = 0;
  let answer = () => {};
  const exited = new Promise((resolve) => child.on('exit', resolve));
  child.on('message', (message) => {
    if (message.missing) missing ??= message.missing;
    answer(message);
  });
  child.on('exit', (code, signal) => {
    missing ??= `ended with ${signal ?? code}`;
    answer({ missing });
  });
  const next = (send, limitMs) =>
    new Promise((resolve) => {
      if (missing) return resolve({ missing });
      const timer = setTimeout(() => {
        missing = `over ${limitMs / 1000} s`;
        kill(child);
      }, limitMs);
      answer = (message) => {
        clearTimeout(timer);
        resolve(message);
      };
      if (send) child.send('run');
    });
  const ready = next(false, readyMs);
  return {
    name,
    samples,
    why: () => missing,
    spent: () => (missing ? Number.POSITIVE_INFINITY : spent),
    async run() {
      await ready;
      const begin = performance.now();
      const { sample } = await next(true, timeoutMs);
      // What the first run found cold says nothing about the next.
      if (samples.length > 0) spent += performance.now() - begin;
      if (sample) samples.push(sample);
    },
    async stop() {
      missing ??= 'stopped';
      kill(child);
      await exited;
      rmSync(own, { recursive: true, force: true });
    },
  };
}

function kill(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

function summary(one, { name, samples, why }, place) {
  if (samples.length === 0) return { missing: why() };
  const warm = samples.length > 1 ? samples.slice(1) : samples;
  const output = samples.at(-1).output ?? '';
  const all = (key) => warm.map((sample) => sample[key]).filter((value) => value !== undefined);
  return {
    rounds: warm.length,
    times: all('time'),
    time: median(all('time')),
    // Memory that the first run took is not taken again.
    memory: Math.max(...samples.map(({ memory }) => memory)),
    stall: median(all('stall')),
    output: output.length,
    // What only drains its output has no answer that could be wrong.
    isRight: name.startsWith('raw') || (one.verify?.(output, place) ?? true),
    ...(all('count').length > 0 && { count: median(all('count')) }),
    ...(samples.at(-1).error && { error: samples.at(-1).error }),
  };
}

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
