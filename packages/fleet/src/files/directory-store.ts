import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Store } from './store.js';

/** Keeps objects in a directory that all machines share. */
export class DirectoryStore implements Store {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** A reader sees the whole object or none. */
  async put(key: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.#directory, key);
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
  }

  async get(key: string): Promise<Buffer | undefined> {
    return readFile(join(this.#directory, key)).catch(undefinedIfMissing);
  }

  async list(prefix: string): Promise<string[]> {
    const names = await readdir(join(this.#directory, prefix)).catch(undefinedIfMissing);
    return (names ?? []).filter((name) => !name.endsWith('.tmp'));
  }
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
