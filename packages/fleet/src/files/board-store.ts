import type { Board } from '../queue/board.js';
import type { Store } from './store.js';

const maxBytes = 32 << 20;

/** Keeps objects on the server of the queue, so that a small fleet needs nothing else. */
export class BoardStore implements Store {
  readonly #board: Board;

  constructor(board: Board) {
    this.#board = board;
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    if (bytes.length > maxBytes)
      throw new Error(
        `${Math.ceil(bytes.length / (1 << 20))} MB are too much for the server of the queue (at most ${maxBytes >> 20} MB): ` +
          'use --store with a shared directory or s3://bucket',
      );
    const slash = key.lastIndexOf('/');
    await this.#board.set(`store/${key}`, 'data', Buffer.from(bytes).toString('base64'));
    await this.#board.set(`names/${key.slice(0, slash)}`, key.slice(slash + 1), '1');
  }

  async get(key: string): Promise<Buffer | undefined> {
    const text = await this.#board.get(`store/${key}`, 'data');
    return text === undefined ? undefined : Buffer.from(text, 'base64');
  }

  async list(prefix: string): Promise<string[]> {
    return this.#board.fields(`names/${prefix.replace(/\/$/, '')}`);
  }
}
