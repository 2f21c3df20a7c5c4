import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { visibleText } from '@lathe/core/host';
import { FileLocks, LatheHome } from '@lathe/core/tools';
import { defaultLockMs } from '../queue/engine.js';
import { FleetWorker } from '../worker.js';
import { choice, flagsOf, positive, texts } from './flags.js';
import type { FleetIo } from './io.js';
import { common, withFleet } from './open-fleet.js';

const secondMs = 1_000;
const maxWorkers = 100;
const answerWaitSeconds = 60;

/** `lathe fleet worker`: runs jobs until it is interrupted. */
export async function workerCommand(args: string[], io: FleetIo, signal: AbortSignal): Promise<number> {
  const { values } = flagsOf(args, {
    ...common,
    ...texts('jobs', 'max-mode', 'sandbox', 'answer-wait', 'directory', 'lock'),
    team: { type: 'string', multiple: true },
  });
  const teams = values.team ?? ['default'];
  const maxMode = choice('--max-mode', values['max-mode'], ['plan', 'default', 'auto', 'auto-edit', 'yolo'] as const);
  const settings = {
    teams,
    home: io.home,
    env: io.env,
    jobs: positive('--jobs', values.jobs) ?? availableParallelism(),
    maxMode: maxMode === undefined || maxMode === 'auto' ? 'auto-edit' : maxMode,
    sandbox: choice('--sandbox', values.sandbox, ['required', 'auto', 'off'] as const) ?? 'required',
    lockMs: (positive('--lock', values.lock) ?? defaultLockMs / secondMs) * secondMs,
    answerWaitMs: (positive('--answer-wait', values['answer-wait']) ?? answerWaitSeconds) * secondMs,
    log: (message: string) => io.err(visibleText(`lathe: ${message}`)),
  };
  // Not in ~/.lathe, which no tool may change.
  const place = resolve(io.cwd, values.directory ?? join(io.home, '.local/state/lathe-fleet'));
  return withFleet(values, io, ({ engine, store, keys, latheHome, secrets }) =>
    inOwnDirectory(place, latheHome, signal, async (root) => {
      const worker = new FleetWorker({ ...settings, engine, store, keys, latheHome, secrets, root });
      await worker.start();
      io.err(
        `lathe: worker ${worker.name} takes jobs of ${teams.join(', ')}. Ctrl+C ends it; others take over its jobs.`,
      );
      if (!signal.aborted) await once(signal, 'abort');
      await worker.close();
      return 0;
    }),
  );
}

/** Several workers on one machine have a directory each, so that none touches the files of another. */
async function inOwnDirectory<T>(
  place: string,
  latheHome: string,
  signal: AbortSignal,
  act: (root: string) => Promise<T>,
) {
  const locks = new FileLocks(new LatheHome(latheHome), { patienceMs: 100 });
  for (let number = 1; ; number++) {
    let isHeld = false;
    const root = join(place, String(number));
    try {
      return await locks.hold(root, signal, () => {
        isHeld = true;
        return act(root);
      });
    } catch (error) {
      if (isHeld || signal.aborted || number === maxWorkers) throw error;
    }
  }
}
