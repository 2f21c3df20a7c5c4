import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { addSpending, type Session, type Spending } from '@lathe/agent';
import type { Checkout } from '../files/checkout.js';
import { getObject, putObject } from '../files/store.js';
import type { Run } from './run.js';

/** What a job waits for and has been told. */
interface JobState {
  /** Jobs that work for this one and whose results it has not seen. */
  children: { id: string; description: string }[];
  /** Open questions: the digest of the call, and the number that the answer must name. */
  asked: Record<string, string>;
  /** Who answered which question, and how. */
  answers: string[];
}

/** What is sent with a piece of the transcript. */
interface Header extends JobState {
  /** The object's own name: none can stand in for another. */
  name: string;
  offset: number;
  hash: string;
  sessionId: string;
  /** What the task has changed, as an object. */
  patch?: string;
  spent: Spending;
}

/** What another worker needs to continue after the last finished turn. */
export interface ShippedSession extends Header {
  transcript: Buffer;
  changes: Buffer | undefined;
}

/** A job while it runs, with its files and what an earlier worker has left. */
export interface Work extends Run {
  checkout: Checkout;
  earlier: ShippedSession | undefined;
  state: JobState;
}

interface ShipperOptions
  extends Pick<Work, 'store' | 'keys' | 'key' | 'attempt' | 'secrets' | 'checkout' | 'earlier' | 'state'> {
  session: Pick<Session, 'id' | 'transcriptPath' | 'agent'>;
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
  /** The object that holds what the task has changed, and the names of the files. */
  #changes: { patch?: string; files?: string[] };

  constructor(options: ShipperOptions) {
    this.#options = options;
    const patch = options.earlier?.patch;
    this.#changes = patch === undefined ? {} : { patch };
  }

  /** What the result says beside the answer. */
  facts() {
    const { usage, cost } = this.#spent;
    const { session, state } = this.#options;
    const answers = state.answers.length > 0 ? { answers: state.answers } : {};
    return { ...this.#changes, ...answers, usage, ...(cost !== undefined && { cost }), sessionId: session.id };
  }

  get #spent(): Spending {
    const { earlier, session } = this.#options;
    return earlier ? addSpending(earlier.spent, session.agent.spending) : session.agent.spending;
  }

  /** Sends what was added since the last time. */
  async ship(): Promise<void> {
    const { store, keys, key, attempt, session } = this.#options;
    const { children, asked, answers } = this.#options.state;
    const { patch } = this.#changes;
    const added = await readFrom(session.transcriptPath, this.#offset);
    const state = { ...(patch !== undefined && { patch }), children, asked, answers, sessionId: session.id };
    const sent = JSON.stringify(state);
    if (added.length === 0 && sent === this.#sent) return;
    const name = `${key}/${pad(attempt)}-${pad(this.#number)}`;
    const header: Header = { ...state, spent: this.#spent, name, offset: this.#offset, hash: hash('sha256', added) };
    const sealed = Buffer.from(`${JSON.stringify(keys.seal('session', header))}\n`);
    await store.put(`sessions/${name}`, Buffer.concat([sealed, added]));
    this.#sent = sent;
    this.#number += 1;
    this.#offset += added.length;
  }

  /** Stores what the task has changed. */
  async keepChanges(signal: AbortSignal): Promise<void> {
    this.#changes = await storeChanges(this.#options, signal);
  }
}

type Changing = Pick<Work, 'store' | 'secrets' | 'checkout'>;

/** Stores what a task has changed, unless it contains a key. Returns the name of the object and those of the files. */
export async function storeChanges({ store, secrets, checkout }: Changing, signal: AbortSignal) {
  const { patch, files } = await checkout.changes(signal);
  const content = patch.includes('\nGIT binary patch\n') ? await checkout.content(signal) : patch;
  if (secrets.some((secret) => content.includes(secret))) throw new KeyInChanges();
  return patch.length === 0 ? {} : { patch: await putObject(store, patch), files };
}

/** A task has written a key of the worker into its files. */
export class KeyInChanges extends Error {
  override readonly name = 'KeyInChanges';
  override readonly message = 'The changes contain a key of the worker, so they were not sent.';
}

/** The session of the latest attempt that sent one. Throws when nobody that this machine trusts has signed it. */
export async function loadShippedSession({ store, keys, key }: Run): Promise<ShippedSession | undefined> {
  const names = (await store.list(`sessions/${key}/`)).filter((name) => /^\d{8}-\d{8}$/.test(name)).sort();
  const attempt = names.at(-1)?.slice(0, 8) ?? '';
  const pieces: Buffer[] = [];
  let length = 0;
  let last: Header | undefined;
  for (const name of names.filter((each) => each.startsWith(attempt))) {
    const bytes = await store.get(`sessions/${key}/${name}`);
    const end = bytes?.indexOf(0x0a) ?? -1;
    if (!bytes || end < 0) break;
    const header: Header = keys.open('session', JSON.parse(bytes.toString('utf8', 0, end))).value;
    const piece = bytes.subarray(end + 1);
    if (header.name !== `${key}/${name}` || header.offset !== length || header.hash !== hash('sha256', piece))
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

/** The whole lines of a file from an offset on. */
async function readFrom(path: string, start: number): Promise<Buffer> {
  const added = await buffer(createReadStream(path, { start }));
  return added.subarray(0, added.lastIndexOf(0x0a) + 1);
}
