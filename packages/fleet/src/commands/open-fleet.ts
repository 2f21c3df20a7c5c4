import { homeDirectories, loadSettings, secretsOf } from '@lathe/core/host';
import { openStore } from '../files/open-store.js';
import type { Store } from '../files/store.js';
import { Keys } from '../job/keys.js';
import type { Board } from '../queue/board.js';
import { type Engine, openEngine } from '../queue/engine.js';
import { type FleetIo, FleetUsageError } from './io.js';

/** What every command that talks to the queue uses. */
export interface Fleet {
  engine: Engine;
  board: Board;
  store: Store;
  keys: Keys;
  latheHome: string;
  secrets: readonly string[];
}

/** Flags of every command that talks to the queue. */
export const common = { queue: { type: 'string' }, store: { type: 'string' } } as const;

/**
 * Opens the fleet, acts and closes it. The queue is that of `--queue` or `LATHE_FLEET_QUEUE`, the store that of `--store`
 * or `LATHE_FLEET_STORE`.
 */
export async function withFleet<T>(
  given: { queue?: string; store?: string },
  io: FleetIo,
  act: (fleet: Fleet) => Promise<T>,
): Promise<T> {
  const queue = given.queue ?? io.env['LATHE_FLEET_QUEUE'];
  if (!queue) throw new FleetUsageError('name the queue: --queue redis://host:6379, or set LATHE_FLEET_QUEUE');
  const { latheHome } = homeDirectories(io);
  const { cwd: root, env, home } = io;
  const secrets = secretsOf(await loadSettings({ root, env, home, latheHome, isTrusted: false }));
  const engine = await openEngine(queue, (message) => io.err(`lathe: queue: ${message}`));
  try {
    const { board } = engine;
    const store = await openStore(given.store ?? env['LATHE_FLEET_STORE'], board, env);
    return await act({ engine, board, store, keys: new Keys(latheHome), latheHome, secrets });
  } finally {
    await engine.close();
  }
}

/** The run that a command is about. */
export async function runOf({ run }: { run?: string }, board: Board): Promise<string> {
  const hint = 'lathe fleet status lists them';
  if (run === undefined) throw new FleetUsageError(`name the run: --run NAME (${hint})`);
  if ((await board.get('runs', run)) === undefined) throw new FleetUsageError(`there is no run ${run} (${hint})`);
  return run;
}
