import { open } from 'node:fs/promises';
import { getObject, putObject, type Store } from '../files/store.js';

/** What another worker needs to go on after the last finished turn. */
export interface ShippedSession {
  sessionId: string;
  transcript: Buffer;
  /** What the task had changed. */
  patch: Buffer | undefined;
}

interface Header {
  sessionId: string;
  offset: number;
  patch: string | undefined;
}

/**
 * Sends the session of a job to the store, turn by turn. Each attempt has a folder of its own: a worker that was given
 * up and still runs cannot change what its successor reads.
 */
export class SessionShipper {
  readonly #store: Store;
  readonly #folder: string;
  readonly #path: string;
  readonly #sessionId: string;
  #offset = 0;
  #number = 0;
  #patch: string | undefined;

  constructor(store: Store, session: { key: string; attempt: number; path: string; sessionId: string }) {
    this.#store = store;
    this.#folder = `sessions/${session.key}/${session.attempt}`;
    this.#path = session.path;
    this.#sessionId = session.sessionId;
  }

  /** Sends what was added since the last time. `patch` is all that the task has changed so far. */
  async ship(patch: Uint8Array): Promise<void> {
    const added = await readFrom(this.#path, this.#offset);
    if (added.length === 0) return;
    this.#patch = patch.length === 0 ? undefined : await putObject(this.#store, patch);
    const header: Header = { sessionId: this.#sessionId, offset: this.#offset, patch: this.#patch };
    const body = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), added]);
    await this.#store.put(`${this.#folder}/${String(this.#number).padStart(8, '0')}`, body);
    if (this.#number === 0) await this.#store.put(`${this.#folder}-started`, Buffer.from('1'));
    this.#number += 1;
    this.#offset += added.length;
  }
}

/** The session of the latest attempt that sent one. */
export async function loadShippedSession(store: Store, key: string): Promise<ShippedSession | undefined> {
  const names = await store.list(`sessions/${key}/`);
  const attempts = names.flatMap((name) => (/^\d+-started$/.test(name) ? [Number.parseInt(name, 10)] : []));
  if (attempts.length === 0) return undefined;
  const folder = `sessions/${key}/${Math.max(...attempts)}`;
  const pieces: Buffer[] = [];
  let length = 0;
  let last: Header | undefined;
  for (const name of (await store.list(`${folder}/`)).sort()) {
    const bytes = await store.get(`${folder}/${name}`);
    const end = bytes?.indexOf(0x0a) ?? -1;
    if (!bytes || end < 0) break;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `ship`
    const header = JSON.parse(bytes.toString('utf8', 0, end)) as Header;
    if (header.offset !== length) break;
    pieces.push(bytes.subarray(end + 1));
    length += bytes.length - end - 1;
    last = header;
  }
  if (!last) return undefined;
  const patch = last.patch === undefined ? undefined : await getObject(store, last.patch);
  return { sessionId: last.sessionId, transcript: Buffer.concat(pieces), patch };
}

/** The whole lines of a file from an offset on. */
async function readFrom(path: string, offset: number): Promise<Buffer> {
  const file = await open(path).catch(() => undefined);
  if (!file) return Buffer.alloc(0);
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.max(0, size - offset));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
    return bytes.subarray(0, bytes.subarray(0, bytesRead).lastIndexOf(0x0a) + 1);
  } finally {
    await file.close();
  }
}
