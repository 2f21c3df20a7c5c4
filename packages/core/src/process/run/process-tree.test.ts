import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bundleChild, bundleText } from '../../../../../testing/bundle.js';
import { report } from '../../../../../testing/long-run.js';
import { processesWith, uniqueSleep } from '../../../../../testing/processes.js';
import { hasProgram } from '../../../../../testing/programs.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import { Sandbox, type SandboxMode } from '../sandbox/sandbox.js';
import { childEnvironment } from './environment.js';
import { CommandRunner } from './run-command.js';

const isLong = process.env['LATHE_LONG'] === '1';
const env = childEnvironment(process.env);

/** Ways to get out of sight; each sleeps for `s` seconds somewhere. */
const hostile: Record<string, (s: string) => string> = {
  'plain child': (s) => `sleep ${s}`,
  'background job': (s) => `sleep ${s} & wait`,
  'new session': (s) => `setsid sleep ${s} & wait`,
  'double fork': (s) => `( ( sleep ${s} & ) & ); sleep ${s}`,
  'nohup in a new session without output': (s) => `(setsid nohup sleep ${s} >/dev/null 2>&1 &); sleep ${s}`,
  disowned: (s) => `sleep ${s} & disown -a; sleep ${s}`,
  'ignores signals': (s) => `trap "" TERM INT HUP QUIT; while :; do sleep ${s}; done`,
  'empty environment, new session, ignores signals': (s) =>
    `env -i setsid /bin/bash -c 'trap "" TERM HUP; (/bin/sleep ${s} &); while :; do /bin/sleep ${s}; done' & wait`,
  'lower limits': (s) => `(ulimit -n 50; setsid sleep ${s} &); sleep ${s}`,
  stopped: (s) => `sleep ${s} & kill -STOP $!; kill -STOP $$`,
  'moves on all the time': (s) =>
    `hop='sleep 0.01; (setsid /bin/bash -c "$0" "$0" "$1" &)'; setsid /bin/bash -c "$hop" "$hop" ${s} & sleep ${s}`,
  'forks all the time': (s) => `while :; do (setsid sleep ${s} &); sleep 0.02; done`,
};

async function contained(mode: SandboxMode) {
  const root = tempDirectory();
  const latheHome = new LatheHome(tempDirectory());
  const runner = new CommandRunner(latheHome);
  const sandbox = new Sandbox({ mode, roots: [root], latheHome, userHome: '/nonexistent' });
  return async (command: string, limits: { timeoutMs?: number; signal?: AbortSignal }) => {
    const wrap = await sandbox.prepare(root, {
      workspace: true,
      network: false,
      home: false,
      files: false,
      secrets: false,
    });
    const { timeoutMs = 20_000, signal = new AbortController().signal } = limits;
    return runner.run({ command, cwd: root, env, ...(wrap && { wrap }) }, { timeoutMs, signal });
  };
}

describe.each(['off', 'required'] as const)('sandbox %s', (mode) => {
  const isMissing = mode === 'required' && !hasProgram('bwrap');

  // SB13 RS01
  test.skipIf(isMissing).each(Object.keys(hostile))('a timeout leaves nothing of: %s', async (kind) => {
    const run = await contained(mode);
    const sleep = uniqueSleep();
    const result = await run(hostile[kind]?.(sleep) ?? '', { timeoutMs: 150 });
    expect(result.survivors).toEqual([]);
    expect(processesWith(sleep)).toEqual([]);
  });

  // SB13 RS08
  test.skipIf(isMissing)('an exit leaves no detached process behind', async () => {
    const run = await contained(mode);
    const sleep = uniqueSleep();
    const result = await run(`env -i setsid nohup sleep ${sleep} >/dev/null 2>&1 </dev/null & sleep 0.05`, {});
    expect(result.ending).toEqual({ type: 'exit', code: 0 });
    expect(processesWith(sleep)).toEqual([]);
  });

  // RS02
  test.skipIf(isMissing)(
    'aborts at random moments leave nothing',
    async () => {
      const run = await contained(mode);
      const arbitrary = fc.tuple(fc.constantFrom(...Object.values(hostile)), fc.integer({ min: 0, max: 120 }));
      const times: number[] = [];
      for (const [tree, ms] of fc.sample(arbitrary, isLong ? 500 : 20)) {
        const sleep = uniqueSleep();
        const controller = new AbortController();
        const running = run(tree(sleep), controller);
        await wait(ms);
        const start = performance.now();
        controller.abort();
        expect((await running).ending).toEqual({ type: 'abort' });
        times.push(performance.now() - start);
        expect(processesWith(sleep)).toEqual([]);
      }
      times.sort((a, b) => a - b);
      const at = (share: number) => Math.round(times[Math.floor((times.length - 1) * share)] ?? 0);
      report(`aborts at random moments (sandbox ${mode})`, times.length, { p50: at(0.5), p99: at(0.99) });
    },
    isLong ? 600_000 : 60_000,
  );

  // RS09 RS10
  test.skipIf(isMissing).each(['SIGKILL', 'SIGTERM', 'SIGHUP'] as const)(
    'nothing is left when Lathe itself dies by %s',
    async (signal) => {
      const sleep = uniqueSleep();
      const trees = ['new session', 'empty environment, new session, ignores signals', 'forks all the time'];
      const lathe = await startLathe(
        mode,
        trees.map((kind) => hostile[kind]?.(sleep) ?? ''),
      );
      await expect.poll(() => processesWith(sleep).length).toBeGreaterThan(4);
      lathe.kill(signal);
      await once(lathe, 'exit');
      await expect.poll(() => processesWith(sleep)).toEqual([]);
    },
  );
});

// RS09
test('nothing is left when Lathe is killed before the guardian has answered', async () => {
  const sleep = uniqueSleep();
  const lathe = spawn(process.execPath, [await bundleChild('asking-guardian'), tempDirectory(), sleep]);
  const [helper] = await once(lathe.stdout, 'data');
  expect(processesWith(`sleep\0${sleep}`)).toHaveLength(1);
  lathe.kill('SIGKILL');
  await once(lathe, 'exit');
  process.kill(Number(helper), 'SIGCONT');
  await expect.poll(() => processesWith(`sleep\0${sleep}`)).toEqual([]);
});

test('a Lathe inside a command of another is cleaned up with it', async () => {
  const run = await contained('off');
  const sleep = uniqueSleep();
  const { script, args } = await latheScript('off', [
    hostile['empty environment, new session, ignores signals']?.(sleep) ?? '',
  ]);
  const controller = new AbortController();
  const outer = run(`${process.execPath} ${script} '${JSON.stringify(args).replaceAll("'", "'\\''")}'`, controller);
  await expect.poll(() => processesWith(`/bin/sleep\0${sleep}`).length).toBeGreaterThan(0);
  controller.abort();
  await outer;
  await expect.poll(() => processesWith(`/bin/sleep\0${sleep}`)).toEqual([]);
});

/** A process of its own that runs commands until it is killed. */
async function startLathe(mode: SandboxMode, commands: string[]): Promise<ChildProcess> {
  const { script, args } = await latheScript(mode, commands);
  return spawn(process.execPath, [script, JSON.stringify(args)], { stdio: 'inherit' });
}

async function latheScript(mode: SandboxMode, commands: string[]) {
  const script = await bundleText(`
      import { CommandRunner } from '${import.meta.dirname}/run-command.ts';
      import { Sandbox } from '${import.meta.dirname}/../sandbox/sandbox.ts';
      import { LatheHome } from '${import.meta.dirname}/../../files/lathe-home.ts';
      const { root, home, mode, commands, env } = JSON.parse(process.argv[2] ?? '');
      const latheHome = new LatheHome(home);
      const runner = new CommandRunner(latheHome);
      const sandbox = new Sandbox({ mode, roots: [root], latheHome, userHome: '/nonexistent' });
      for (const command of commands) {
        const wrap = await sandbox.prepare(root, { workspace: true, network: false, home: false, files: false, secrets: false });
        await runner.start({ command, cwd: root, env, ...(wrap && { wrap }) });
      }
    `);
  return { script, args: { root: tempDirectory(), home: tempDirectory(), mode, commands, env } };
}
