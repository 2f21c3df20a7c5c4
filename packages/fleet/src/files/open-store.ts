import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
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

/** Group and field. Each object is forgotten by itself, a session as a whole. */
function placeOf(key: string): [string, string] {
  return key.startsWith('objects/') ? [`store/${key}`, 'data'] : [`store/${dirname(key)}`, basename(key)];
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
      await board.set(...placeOf(key), Buffer.from(bytes).toString('base64'));
    },
    async get(key) {
      const text = await board.get(...placeOf(key));
      return text === undefined ? undefined : Buffer.from(text, 'base64');
    },
    list: (prefix) => board.fields(`store/${dirname(`${prefix}x`)}`),
  };
}

/** In a directory that all machines share. A reader sees the whole object or none. */
function directoryStore(directory: string): Store {
  return {
    async put(key, bytes) {
      const path = join(directory, key);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
      await writeFile(temporary, bytes, { flag: 'wx', mode: 0o600, flush: true });
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
