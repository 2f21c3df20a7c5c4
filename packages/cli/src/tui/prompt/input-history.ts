import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, open, rename, writeFile } from 'node:fs/promises';
import type { LatheHome } from '@lathe/core/tools';

const maxInputs = 500;
/** Longer input is kept in memory only. */
const maxCharacters = 10_000;
/** Only the end of a longer file is read and kept. */
const maxBytes = 512 * 1024;

/** The input typed in this directory, in a private file. Input that starts with a space is not stored. */
export class InputHistory {
  readonly #home: LatheHome;
  readonly #name: string;
  readonly #inputs: string[];
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(home: LatheHome, name: string, inputs: string[]) {
    this.#home = home;
    this.#name = name;
    this.#inputs = inputs;
  }

  static async open(home: LatheHome, root: string): Promise<InputHistory> {
    const name = `${createHash('sha256').update(root).digest('hex').slice(0, 32)}.jsonl`;
    const history = new InputHistory(home, name, []);
    const { inputs, isLong } = await read(home.file('history', name));
    history.#inputs.push(...inputs.slice(-maxInputs));
    if (isLong || inputs.length > 2 * maxInputs) history.#shorten();
    return history;
  }

  /** Oldest first. */
  get inputs(): readonly string[] {
    return this.#inputs;
  }

  add(input: string): void {
    if (input === this.#inputs.at(-1)) return;
    this.#inputs.push(input);
    if (input.startsWith(' ') || input.length > maxCharacters) return;
    this.#write(async () => {
      await this.#home.directory('history');
      const file = await open(this.#path, flags, 0o600);
      try {
        await file.appendFile(`${JSON.stringify(input)}\n`);
      } finally {
        await file.close();
      }
    });
  }

  /** Resolves when everything is on disk. */
  async close(): Promise<void> {
    await this.#writing;
  }

  get #path(): string {
    return this.#home.file('history', this.#name);
  }

  #shorten(): void {
    const text = this.#inputs.map((input) => `${JSON.stringify(input)}\n`).join('');
    const temporary = `${this.#path}.${process.pid}`;
    this.#write(async () => {
      await writeFile(temporary, text, { flag: 'wx', mode: 0o600 });
      await chmod(temporary, 0o600);
      await rename(temporary, this.#path);
    });
  }

  /** Writes in order and ignores failures: the history is not worth stopping the work. */
  #write(work: () => Promise<void>): void {
    this.#writing = this.#writing.then(work).catch(() => undefined);
  }
}

const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

async function read(path: string): Promise<{ inputs: string[]; isLong: boolean }> {
  try {
    const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const { size } = await file.stat();
      const start = Math.max(0, size - maxBytes);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, maxBytes)), { position: start });
      return { inputs: buffer.toString('utf8', 0, bytesRead).split('\n').flatMap(parseLine), isLong: start > 0 };
    } finally {
      await file.close();
    }
  } catch {
    // There is no history yet, or the file is not ours.
    return { inputs: [], isLong: false };
  }
}

/** Skips incomplete and damaged lines. */
function parseLine(line: string): string[] {
  try {
    const input: unknown = JSON.parse(line);
    return typeof input === 'string' && input.length <= maxCharacters ? [input] : [];
  } catch {
    return [];
  }
}
