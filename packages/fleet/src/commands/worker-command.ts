import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { ApprovalMode } from '@lathe/core';
import { FleetWorker } from '../worker.js';
import { choice, flagsOf, positive } from './flags.js';
import type { FleetIo } from './io.js';
import { openFleet } from './open-fleet.js';

const secondMs = 1_000;

/** `lathe fleet worker`: runs jobs until it is interrupted. */
export async function workerCommand(args: readonly string[], io: FleetIo, signal: AbortSignal): Promise<number> {
  const { values } = flagsOf(args, {
    queue: { type: 'string' },
    store: { type: 'string' },
    jobs: { type: 'string' },
    team: { type: 'string', multiple: true },
    'max-mode': { type: 'string' },
    sandbox: { type: 'string' },
    'answer-wait': { type: 'string' },
    directory: { type: 'string' },
    lock: { type: 'string' },
  });
  const { engine, store, keys, latheHome } = await openFleet(values, io);
  const teams = values.team ?? ['default'];
  const worker = new FleetWorker({
    engine,
    store,
    keys,
    latheHome,
    teams,
    home: io.home,
    env: io.env,
    // Not in ~/.lathe, which no tool may change.
    root: resolve(io.cwd, values.directory ?? join(io.home, '.local/state/lathe-fleet')),
    jobs: positive('--jobs', values.jobs) ?? availableParallelism(),
    maxMode:
      choice<ApprovalMode>('--max-mode', values['max-mode'], ['plan', 'default', 'auto-edit', 'yolo']) ?? 'auto-edit',
    sandbox: choice('--sandbox', values.sandbox, ['required', 'auto', 'off'] as const) ?? 'required',
    lockMs: (positive('--lock', values.lock) ?? 30) * secondMs,
    answerWaitMs: (positive('--answer-wait', values['answer-wait']) ?? 60) * secondMs,
    log: (message) => io.err(`lathe: ${message}`),
  });
  try {
    await worker.start();
    io.err(
      `lathe: worker ${worker.name} takes jobs of ${teams.join(', ')}. Ctrl+C ends it; others take over its jobs.`,
    );
    await new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
  } finally {
    await worker.close();
    await engine.close();
  }
  return 0;
}
