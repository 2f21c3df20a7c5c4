import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Board } from '../queue/board.js';

/** Keeps what is too large for the queue: patches, snapshots, transcripts. */
export interface Store {
  put(key: string, bytes: Uint8Array): Promise<void>;
  get(key: string): Promise<Buffer | undefined>;
  /** The names below a prefix that ends in a slash. */
  list(prefix: string): Promise<string[]>;
}

const maxOnBoard = 32 << 20;

/** Opens `s3://bucket/prefix`, a directory, or without a place the server of the queue itself. */
export async function openStore(
  place: string | undefined,
  board: Board,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Store> {
  if (place === undefined) return boardStore(board);
  return place.startsWith('s3://') ? (await import('./s3-store.js')).openS3Store(place, env) : directoryStore(place);
}

/** Stores bytes under their hash and returns it. */
export async function putObject(store: Store, bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256').update(bytes).digest('hex');
  await store.put(`objects/${hash}`, bytes);
  return hash;
}

/** Throws when the object is missing or is not what its name says. */
export async function getObject(store: Store, hash: string): Promise<Buffer> {
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error(`${JSON.stringify(hash)} is not the hash of an object`);
  const bytes = await store.get(`objects/${hash}`);
  if (!bytes) throw new Error(`the store has no object ${hash}`);
  if (createHash('sha256').update(bytes).digest('hex') !== hash) throw new Error(`the object ${hash} is damaged`);
  return bytes;
}

/** On the server of the queue, so that a small fleet needs nothing else. */
function boardStore(board: Board): Store {
  return {
    async put(key, bytes) {
      if (bytes.length > maxOnBoard)
        throw new Error(
          `${Math.ceil(bytes.length / (1 << 20))} MB are too much for the server of the queue (at most ${maxOnBoard >> 20} MB): ` +
            'use --store with a shared directory or s3://bucket',
        );
      const slash = key.lastIndexOf('/');
      await board.set(`store/${key}`, 'data', Buffer.from(bytes).toString('base64'));
      await board.set(`names/${key.slice(0, slash)}`, key.slice(slash + 1), '1');
    },
    async get(key) {
      const text = await board.get(`store/${key}`, 'data');
      return text === undefined ? undefined : Buffer.from(text, 'base64');
    },
    list: (prefix) => board.fields(`names/${prefix.replace(/\/$/, '')}`),
  };
}

/** In a directory that all machines share. A reader sees the whole object or none. */
function directoryStore(directory: string): Store {
  return {
    async put(key, bytes) {
      const path = join(directory, key);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    },
    get: (key) => readFile(join(directory, key)).catch(undefinedIfMissing),
    async list(prefix) {
      const names = await readdir(join(directory, prefix)).catch(undefinedIfMissing);
      return (names ?? []).filter((name) => !name.endsWith('.tmp'));
    },
  };
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
