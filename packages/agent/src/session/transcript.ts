import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, constants, fchmodSync, fstatSync, fsync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { makeDirectory } from '@lathe/core/host';
import type { Message } from '../models/model.js';
import { encodeLine, type SessionRecord } from './record.js';

export interface TranscriptOptions {
  path: string;
  /** Written before anything else. */
  opening: SessionRecord;
  secrets: readonly string[];
  /** Called once, when something cannot be saved. */
  onProblem: (message: string) => void;
}

/** Readers skip longer lines. */
export const maxLineBytes = 32 << 20;
/** Limit for records that cannot be written yet, for example because the disk is full. */
const maxWaitingBytes = 16 << 20;

/**
 * Appends to a session's file. Every record is one line, written in one piece before `append` returns: a process killed
 * at any moment loses at most the record it was writing. `sync`, at the end of each prompt, makes it survive a power
 * failure as well. Records that cannot be written wait in memory until that is possible again.
 */
export class Transcript {
  readonly writer = randomBytes(4).toString('hex');
  readonly path: string;
  readonly #options: TranscriptOptions;
  #file: number | undefined;
  #number = 0;
  #waiting: Buffer[] = [];
  /** The last line of the file is incomplete. */
  #isTorn = false;
  /** Something was written since the last `sync`. */
  #isDirty = false;
  #hasReported = false;

  constructor(options: TranscriptOptions) {
    this.#options = options;
    this.path = options.path;
  }

  /** Never throws. */
  append(record: SessionRecord): void {
    if (this.#number === 0) this.#queue(this.#options.opening);
    this.#queue(record);
    try {
      this.#write();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.#hasReported) this.#options.onProblem(`The session cannot be saved (${reason}); work continues.`);
      this.#hasReported = true;
      this.#dropOldest();
    }
  }

  async sync(): Promise<void> {
    if (this.#file === undefined || !this.#isDirty) return;
    this.#isDirty = false;
    await fsyncFile(this.#file).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.sync();
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #queue(record: SessionRecord): void {
    const number = ++this.#number;
    const encode = (what: SessionRecord) =>
      Buffer.from(`${encodeLine({ writer: this.writer, number, record: what }, this.#options.secrets)}\n`);
    const line = encode(record);
    this.#waiting.push(line.length <= maxLineBytes ? line : encode(withoutMedia(record)));
  }

  #write(): void {
    this.#file ??= this.#open();
    for (let line = this.#waiting[0]; line; line = this.#waiting[0]) {
      if (this.#isTorn) writeSync(this.#file, '\n');
      this.#isTorn = true;
      for (let done = 0; done < line.length; ) done += writeSync(this.#file, line, done);
      this.#isTorn = false;
      this.#isDirty = true;
      this.#waiting.shift();
    }
  }

  #open(): number {
    const directory = dirname(this.path);
    makeDirectory(directory);
    chmodSync(directory, 0o700);
    const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
    const file = openSync(this.path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      const info = fstatSync(file);
      if (!info.isFile()) throw new Error('it is not a regular file');
      fchmodSync(file, 0o600);
      const last = Buffer.alloc(1);
      this.#isTorn = info.size > 0 && readSync(file, last, 0, 1, info.size - 1) === 1 && last[0] !== newline;
      return file;
    } catch (error) {
      closeSync(file);
      throw error;
    }
  }

  #dropOldest(): void {
    let bytes = this.#waiting.reduce((sum, line) => sum + line.length, 0);
    while (bytes > maxWaitingBytes) bytes -= this.#waiting.shift()?.length ?? bytes;
  }
}

const newline = 0x0a;
const fsyncFile = promisify(fsync);

function withoutMedia(record: SessionRecord): SessionRecord {
  if (record.type === 'message') return { type: 'message', message: stripped(record.message) };
  if (record.type === 'history') return { type: 'history', messages: record.messages.map(stripped) };
  return record;
}

function stripped(message: Message): Message {
  const parts = message.parts.map((part) =>
    part.inlineData ? { text: `[${part.inlineData.mimeType ?? 'media'}: too large to be kept]` } : part,
  );
  return { ...message, parts };
}
