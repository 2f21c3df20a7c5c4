import { hash as hashOf } from 'node:crypto';

/** Keeps what is too large for the queue: patches, snapshots, transcripts. */
export interface Store {
  put(key: string, bytes: Uint8Array): Promise<void>;
  get(key: string): Promise<Buffer | undefined>;
  /** The names below a prefix that ends in a slash. */
  list(prefix: string): Promise<string[]>;
}

/** Stores bytes under their hash and returns it. */
export async function putObject(store: Store, bytes: Uint8Array): Promise<string> {
  const hash = hashOf('sha256', bytes);
  await store.put(`objects/${hash}`, bytes);
  return hash;
}

/** Throws when the object is missing or is not what its name says. */
export async function getObject(store: Store, hash: string): Promise<Buffer> {
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error(`${JSON.stringify(hash)} is not the hash of an object`);
  const bytes = await store.get(`objects/${hash}`);
  if (!bytes) throw new Error(`the store has no object ${hash}`);
  if (hashOf('sha256', bytes) !== hash) throw new Error(`the object ${hash} is damaged`);
  return bytes;
}
