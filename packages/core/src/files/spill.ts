import { randomBytes } from 'node:crypto';
import type { LatheHome } from './lathe-home.js';

/** One file and one process may not fill the disk with output nobody asked to keep. */
const maxFileBytes = 50 * 1024 * 1024;
const maxTotalBytes = 500 * 1024 * 1024;
const cutMark = Buffer.from('\n[cut here: the output was longer than may be kept]\n');

/** Private files for text too long for a model's answer. */
export class SpillStore {
  readonly #home: LatheHome;
  #written = 0;

  constructor(home: LatheHome) {
    this.#home = home;
  }

  /** The directory the files are in: what the model may read without asking. */
  get directory(): string {
    return this.#home.file('spill');
  }

  /** Writes the text, or as much of it as the limits allow, and returns the file's path. */
  async write(name: string, text: string): Promise<string> {
    const room = Math.max(0, Math.min(maxFileBytes, maxTotalBytes - this.#written));
    const whole = Buffer.from(text);
    if (room === 0) throw new Error('this session has kept as much output as it may');
    const bytes = whole.length <= room ? whole : Buffer.concat([whole.subarray(0, room), cutMark]);
    this.#written += bytes.length;
    const safeName = name.replace(/[^\w.-]/g, '_').slice(0, 80);
    return this.#home.createFile(['spill', `${safeName}-${randomBytes(6).toString('hex')}.txt`], bytes);
  }
}
