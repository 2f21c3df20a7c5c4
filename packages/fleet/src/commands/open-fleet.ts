import { homeDirectories, loadSettings, secretsOf } from '@lathe/core/host';
import { openStore } from '../files/open-store.js';
import type { Store } from '../files/store.js';
import { Keys } from '../job/keys.js';
import { type Engine, openEngine } from '../queue/engine.js';
import { type FleetIo, FleetUsageError } from './io.js';

/** What every command that talks to the queue uses. */
export interface Fleet {
  engine: Engine;
  store: Store;
  keys: Keys;
  latheHome: string;
  secrets: readonly string[];
}

/** The queue is that of `--queue` or `LATHE_FLEET_QUEUE`, the store that of `--store` or `LATHE_FLEET_STORE`. */
export async function openFleet(given: { queue?: string; store?: string }, io: FleetIo): Promise<Fleet> {
  const queue = given.queue ?? io.env['LATHE_FLEET_QUEUE'];
  if (!queue) throw new FleetUsageError('name the queue: --queue redis://host:6379, or set LATHE_FLEET_QUEUE');
  const { latheHome } = homeDirectories(io);
  const engine = await openEngine(queue, (message) => io.err(`lathe: queue: ${message}`));
  const store = await openStore(given.store ?? io.env['LATHE_FLEET_STORE'], engine.board, io.env);
  const { cwd: root, env, home } = io;
  const secrets = secretsOf(await loadSettings({ root, env, home, latheHome, isTrusted: false }));
  return { engine, store, keys: Keys.open(latheHome), latheHome, secrets };
}
