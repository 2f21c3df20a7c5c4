import { randomBytes } from 'node:crypto';
import type { LatheHome } from './lathe-home.js';

/** Output that nobody asked to keep must not fill the disk. */
const maxFileBytes = 50 * 1024 * 1024;
const maxTotalBytes = 500 * 1024 * 1024;
const cutMark = Buffer.from('\n[cut here: the output exceeds the limit for kept files]\n');

/** Private files for output that is too long for the model. */
export class SpillStore {
  readonly #home: LatheHome;
  #written = 0;

  constructor(home: LatheHome) {
    this.#home = home;
  }

  /** The directory of the files, which the model may read without asking. */
  get directory(): string {
    return this.#home.file('spill');
  }

  /** Writes the text, or as much of it as the limits allow, and returns the file's path. */
  async write(name: string, text: string): Promise<string> {
    const room = Math.max(0, Math.min(maxFileBytes, maxTotalBytes - this.#written));
    const whole = Buffer.from(text);
    if (room === 0) throw new Error('this session has reached its limit for kept output');
    const bytes = whole.length <= room ? whole : Buffer.concat([whole.subarray(0, room), cutMark]);
    this.#written += bytes.length;
    const safeName = name.replace(/[^\w.-]/g, '_').slice(0, 80);
    return this.#home.createFile(['spill', `${safeName}-${randomBytes(6).toString('hex')}.txt`], bytes);
  }
}
