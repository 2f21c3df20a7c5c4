import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { addSpending, type Session, type Spending } from '@lathe/agent';
import type { Checkout } from '../files/checkout.js';
import { getObject, putObject, type Store } from '../files/store.js';
import type { Keys } from '../job/keys.js';
import type { Run } from './run.js';

/** What is sent with a session, beside its transcript. */
export interface SessionState {
  sessionId: string;
  /** What the task has changed, as an object. */
  patch?: string;
  /** Jobs that work for this one and whose results it has not seen. */
  children: readonly { id: string; description: string }[];
  /** Open questions: the digest of the call, and the number that the answer must name. */
  asked: Readonly<Record<string, string>>;
  /** Who answered which question, and how. */
  answers: readonly string[];
  spent: Spending;
}

/** What another worker needs to continue after the last finished turn. */
export interface ShippedSession extends SessionState {
  transcript: Buffer;
  changes: Buffer | undefined;
}

interface Header extends SessionState {
  /** The object's own name: none can stand in for another. */
  name: string;
  offset: number;
  hash: string;
}

interface ShipperOptions extends Pick<Run, 'store' | 'keys' | 'key' | 'attempt' | 'secrets'> {
  checkout: Checkout;
  session: Pick<Session, 'id' | 'transcriptPath' | 'agent'>;
  approver: { asked: ReadonlyMap<string, string>; answers: readonly string[] };
  children: { open: SessionState['children'] };
  earlier: ShippedSession | undefined;
}

/**
 * Sends the session of a job to the store in signed pieces. Each attempt has names of its own: a worker that was given up
 * and still runs cannot change what its successor reads.
 */
export class SessionShipper {
  readonly #options: ShipperOptions;
  #offset = 0;
  #number = 0;
  #sent = '';
  /** The object that holds what the task has changed. */
  #patch: string | undefined;

  constructor(options: ShipperOptions) {
    this.#options = options;
    this.#patch = options.earlier?.patch;
  }

  /** What the result says beside the answer. */
  facts(files: readonly string[]) {
    const { usage, cost } = this.#spent;
    const changes = this.#patch === undefined ? {} : { patch: this.#patch, files };
    return { ...changes, usage, ...(cost !== undefined && { cost }), sessionId: this.#options.session.id };
  }

  get #spent(): Spending {
    const { earlier, session } = this.#options;
    return earlier ? addSpending(earlier.spent, session.agent.spending) : session.agent.spending;
  }

  /** Sends what was added since the last time. */
  async ship(): Promise<void> {
    const { store, keys, key, attempt, session, approver, children } = this.#options;
    const { answers } = approver;
    const asked = Object.fromEntries(approver.asked);
    const patch = this.#patch === undefined ? {} : { patch: this.#patch };
    const added = await readFrom(session.transcriptPath, this.#offset);
    const state = { ...patch, asked, answers, children: children.open, sessionId: session.id };
    const sent = JSON.stringify(state);
    if (added.length === 0 && sent === this.#sent) return;
    const name = `${key}/${pad(attempt)}-${pad(this.#number)}`;
    const header: Header = { ...state, spent: this.#spent, name, offset: this.#offset, hash: hashOf(added) };
    const sealed = Buffer.from(`${JSON.stringify(keys.seal('session', header))}\n`);
    await store.put(`sessions/${name}`, Buffer.concat([sealed, added]));
    this.#sent = sent;
    this.#number += 1;
    this.#offset += added.length;
  }

  /** Stores what the task has changed, and returns the names of the files. */
  async keepChanges(signal: AbortSignal): Promise<string[]> {
    const { checkout, store, secrets } = this.#options;
    const { patch, files } = await checkout.changes(signal);
    if (secrets.some((secret) => patch.includes(secret))) throw new KeyInChanges();
    this.#patch = patch.length === 0 ? undefined : await putObject(store, patch);
    return files;
  }
}

/** A task has written a key of the worker into its files. */
export class KeyInChanges extends Error {
  override readonly name = 'KeyInChanges';
  override readonly message = 'The changes contain a key of the worker, so they were not sent.';
}

/** The session of the latest attempt that sent one. Throws when nobody that this machine trusts has signed it. */
export async function loadShippedSession(store: Store, keys: Keys, key: string): Promise<ShippedSession | undefined> {
  const names = (await store.list(`sessions/${key}/`)).filter((name) => /^\d{8}-\d{8}$/.test(name)).sort();
  const attempt = names.at(-1)?.slice(0, 8) ?? '';
  const pieces: Buffer[] = [];
  let length = 0;
  let last: Header | undefined;
  for (const name of names.filter((each) => each.startsWith(attempt))) {
    const bytes = await store.get(`sessions/${key}/${name}`);
    const end = bytes?.indexOf(0x0a) ?? -1;
    if (!bytes || end < 0) break;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its signer is trusted
    const header = keys.open('session', JSON.parse(bytes.toString('utf8', 0, end))).value as Header;
    const piece = bytes.subarray(end + 1);
    if (header.name !== `${key}/${name}` || header.offset !== length || header.hash !== hashOf(piece))
      throw new Error('the transcript of an earlier attempt was changed by somebody else');
    pieces.push(piece);
    length += piece.length;
    last = header;
  }
  if (!last) return undefined;
  const changes = last.patch === undefined ? undefined : await getObject(store, last.patch);
  return { ...last, transcript: Buffer.concat(pieces), changes };
}

const pad = (number: number): string => String(number).padStart(8, '0');
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The whole lines of a file from an offset on. */
async function readFrom(path: string, start: number): Promise<Buffer> {
  const added = await buffer(createReadStream(path, { start }));
  return added.subarray(0, added.lastIndexOf(0x0a) + 1);
}
