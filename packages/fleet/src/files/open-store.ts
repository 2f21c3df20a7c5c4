import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Board } from '../queue/board.js';
import type { Store } from './store.js';

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
