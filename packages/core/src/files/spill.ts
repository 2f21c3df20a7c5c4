import { randomBytes } from 'node:crypto';
import { Yielder } from '../async/yielder.js';
import { RedactStream } from '../text/redact.js';
import type { LatheHome } from './lathe-home.js';
import { cleanFiles, type KeepRule } from './retention/clean-files.js';
import { NamesInUse } from './retention/names-in-use.js';
import { storedFiles } from './retention/stored-files.js';

/** Output that nobody asked to keep must not fill the disk. */
const maxFileBytes = 50 * 1024 * 1024;
const cutMark = Buffer.from('\n[cut here: the output exceeds the limit for kept files]\n');
/** So much is written between two looks at all files of all processes. */
const cleanEveryBytes = 32 * 1024 * 1024;
const pieceChars = 256 * 1024;

export interface SpillOptions {
  /** Values that no file may contain, besides everything that looks like a token. */
  secrets?: readonly string[];
  /** What stays, over all sessions and processes. */
  keepRule?: () => KeepRule;
}

/**
 * Private files for output that is too long for the model. Each session has its own folder, which only that session may
 * read unasked. Removes old files as it writes new ones, but nothing of another session that is still running.
 */
export class SpillStore {
  readonly secrets: readonly string[];
  readonly inUse: NamesInUse;
  readonly #home: LatheHome;
  readonly #keepRule: () => KeepRule;
  #session = `run-${randomBytes(12).toString('hex')}`;
  #isMarked = false;
  /** Complete files of this store, which it may remove itself. */
  readonly #own = new Set<string>();
  #uncheckedBytes = cleanEveryBytes;
  #cleaning: Promise<unknown> = Promise.resolve();

  constructor(home: LatheHome, { secrets = [], keepRule = defaultRule }: SpillOptions = {}) {
    this.#home = home;
    this.secrets = secrets;
    this.#keepRule = keepRule;
    this.inUse = new NamesInUse(home);
  }

  /** The folder that is written to, and that this session may read without asking. */
  get directory(): string {
    return this.#home.file('spill', this.#session);
  }

  /** From now on writes to the folder of this session, in which its earlier output may be. */
  async enter(session: string): Promise<void> {
    await this.inUse.mark(session);
    this.#session = session;
    this.#isMarked = true;
  }

  /** Makes the folder, for output that is written by others. Call `finished` when such a file is complete. */
  async open(): Promise<string> {
    const directory = await this.#home.directory('spill', this.#session);
    if (!this.#isMarked) await this.inUse.mark(this.#session);
    this.#isMarked = true;
    return directory;
  }

  /** A process that outlives this one keeps writing to the folder. */
  async leaveTo(pid: number): Promise<void> {
    await this.inUse.mark(this.#session, pid);
  }

  /** Writes the text, or as much of it as the limits allow, and returns the file's path. */
  async write(name: string, text: string): Promise<string> {
    await this.open();
    const whole = await this.#redacted(text);
    const bytes = whole.length <= maxFileBytes ? whole : Buffer.concat([whole.subarray(0, maxFileBytes), cutMark]);
    const safeName = name.replace(/[^\w.-]/g, '_').slice(0, 80);
    const file = `${safeName}-${randomBytes(6).toString('hex')}.txt`;
    const path = await this.#home.createFile(['spill', this.#session, file], bytes);
    await this.finished(path, bytes.length);
    return path;
  }

  /** A file in the folder is complete. Waits while old files are removed, so that writers cannot outrun it. */
  async finished(path: string, bytes: number): Promise<void> {
    this.#uncheckedBytes += bytes;
    if (this.#uncheckedBytes >= cleanEveryBytes) {
      this.#uncheckedBytes = 0;
      this.#cleaning = this.#cleaning.then(() => this.#clean(path));
      await this.#cleaning;
    }
    this.#own.add(path);
  }

  async #clean(justWritten: string): Promise<void> {
    const [files, live] = [await storedFiles(this.#home, 'spill'), await this.inUse.list()];
    await cleanFiles(files, {
      rule: this.#keepRule(),
      isInUse: ({ path, owner }) =>
        path === justWritten || (owner !== undefined && live.has(owner) && !this.#own.has(path)),
    });
  }

  async #redacted(text: string): Promise<Buffer> {
    const stream = new RedactStream(this.secrets);
    const yielder = new Yielder();
    const pieces: string[] = [];
    for (let at = 0; at < text.length; at += pieceChars) {
      pieces.push(stream.push(text.slice(at, at + pieceChars)));
      if (yielder.shouldYield) await yielder.yield();
    }
    pieces.push(stream.flush());
    return Buffer.from(pieces.join(''));
  }
}

const defaultRule = (): KeepRule => ({ since: Date.now() - 30 * 86_400_000, maxBytes: 500 * 1024 * 1024 });
