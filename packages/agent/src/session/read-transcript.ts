import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Message } from '../models/model.js';
import { type CallRecord, decodeLine, type Line, type SessionRecord, type TurnRecord } from './record.js';
import { maxLineBytes } from './transcript.js';

/** What a transcript tells. */
export interface StoredSession {
  header: Extract<SessionRecord, { type: 'session' }> | undefined;
  messages: Message[];
  /** What each answer of the model took, as far as it is known. */
  turns: ReadonlyMap<Message, TurnRecord>;
  /** What became of each call, by its id. */
  calls: ReadonlyMap<string, CallRecord>;
  /** The last record, which a resumed session goes on from. */
  last: Pick<Line, 'writer' | 'number'> | undefined;
  /** Records that could not be read, or are missing between others. */
  lost: number;
  /** Some of the beginning was not read, because there is too much of it. */
  isCut: boolean;
}

/** How much of a file one call returns. */
export interface ReadLimits {
  /** Of the file, from its end. */
  bytes?: number;
  /** Of the messages that are kept, as they are stored. */
  keptBytes?: number;
  /** Also what the history lost when it was shortened or begun anew: for people who look back, not for going on. */
  isWhole?: boolean;
}

/**
 * Reads a transcript whatever state it is in: what is damaged is left out and counted, the file is never changed.
 * Where two went on from the same session, the one who wrote last is followed. Bounded in time and memory.
 */
export async function readTranscript(
  path: string,
  { bytes = 256 << 20, keptBytes = 64 << 20, isWhole = false }: ReadLimits = {},
): Promise<StoredSession> {
  const file = await openPrivate(path);
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - bytes);
    const reader = new Reader(keptBytes, isWhole);
    for await (const line of linesOf(file, start)) reader.add(line);
    const session = reader.session();
    return { ...session, isCut: session.isCut || start > 0 };
  } finally {
    await file.close();
  }
}

/** Only what nobody else could have written is believed. */
export async function openPrivate(path: string): Promise<FileHandle> {
  // Flags a system does not have are undefined, which counts as 0 here.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const info = await file.stat();
    if (!info.isFile()) throw new Error(`${path} is not a regular file`);
    if (process.platform === 'win32') return file;
    if (info.uid !== process.getuid?.()) throw new Error(`${path} belongs to another user`);
    if ((info.mode & 0o022) !== 0) throw new Error(`${path} can be written by other users`);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The whole lines after `start`, and `undefined` for each that is too long or has no end. */
async function* linesOf(file: FileHandle, start: number): AsyncGenerator<string | undefined> {
  const chunk = Buffer.allocUnsafe(256 * 1024);
  let pieces: Buffer[] = [];
  let length = 0;
  // The first line is cut when reading begins inside the file.
  let isSkipped = start > 0;
  for (let at = start; ; ) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    for (let from = 0; from < bytesRead; ) {
      const end = chunk.subarray(0, bytesRead).indexOf(0x0a, from);
      const piece = chunk.subarray(from, end < 0 ? bytesRead : end);
      from += piece.length + 1;
      length += piece.length;
      if (length <= maxLineBytes && !isSkipped) pieces.push(Buffer.from(piece));
      if (end < 0) break;
      if (!isSkipped && length > 0) yield length <= maxLineBytes ? Buffer.concat(pieces).toString('utf8') : undefined;
      pieces = [];
      length = 0;
      isSkipped = false;
    }
  }
  if (length > 0 && !isSkipped) yield undefined;
}

interface Entry {
  message: Message;
  bytes: number;
  /** Of its writer; 0 for what was there before the writer came. */
  number: number;
}

/** One opening of the transcript. */
interface Branch {
  entries: Entry[];
  /** Of all entries. */
  bytes: number;
  /** Of its last record. */
  number: number;
}

class Reader {
  readonly #keptBytes: number;
  readonly #isWhole: boolean;
  readonly #branches = new Map<string, Branch>();
  #current: Branch = { entries: [], bytes: 0, number: 0 };
  readonly #turns = new Map<Message, TurnRecord>();
  readonly #calls = new Map<string, CallRecord>();
  #header: StoredSession['header'];
  #last: StoredSession['last'];
  #damaged = 0;
  #missing = 0;
  #isCut = false;

  constructor(keptBytes: number, isWhole: boolean) {
    this.#keptBytes = keptBytes;
    this.#isWhole = isWhole;
  }

  add(text: string | undefined): void {
    const line = text === undefined ? undefined : decodeLine(text.replace(/^\ufeff/, ''));
    if (!line) {
      this.#damaged += 1;
      return;
    }
    const { writer, number, record } = line;
    const branch = this.#branches.get(writer) ?? this.#begin(writer, record);
    // A line that is there twice counts once.
    if (number <= branch.number) return;
    if (branch.number > 0) this.#missing += number - branch.number - 1;
    branch.number = number;
    this.#take(branch, record, { bytes: text?.length ?? 0, number });
    this.#current = branch;
    this.#last = { writer, number };
  }

  session(): StoredSession {
    return {
      header: this.#header,
      messages: this.#current.entries.map(({ message }) => message),
      turns: this.#turns,
      calls: this.#calls,
      last: this.#last,
      lost: Math.max(this.#damaged, this.#missing),
      isCut: this.#isCut,
    };
  }

  #begin(writer: string, record: SessionRecord): Branch {
    const entries = this.#base(record);
    const branch = { entries, bytes: sizeOf(entries), number: 0 };
    this.#branches.set(writer, branch);
    return branch;
  }

  /** What a new writer goes on from: the record it names, or, when that is not there, what was written last. */
  #base(record: SessionRecord): Entry[] {
    const named = record.type === 'resume' ? this.#branches.get(record.writer) : undefined;
    const { entries } = named ?? this.#current;
    const known = record.type === 'resume' && named ? entries.filter(({ number }) => number <= record.number) : entries;
    return known.map((entry) => ({ ...entry, number: 0 }));
  }

  #take(branch: Branch, record: SessionRecord, { bytes, number }: { bytes: number; number: number }): void {
    switch (record.type) {
      case 'session':
        this.#header ??= record;
        return;
      case 'message':
        branch.entries.push({ message: record.message, bytes, number });
        branch.bytes += bytes;
        this.#trim(branch);
        return;
      case 'history': {
        const each = bytes / record.messages.length;
        const entries = record.messages.map((message) => ({ message, bytes: each, number }));
        branch.entries = this.#isWhole ? joined(branch.entries, entries) : entries;
        branch.bytes = sizeOf(branch.entries);
        return;
      }
      case 'turn': {
        const answer = branch.entries.at(-1)?.message;
        if (answer?.role === 'model') this.#turns.set(answer, record);
        return;
      }
      case 'call':
        this.#calls.set(record.callId, record);
        return;
      case 'resume':
      case 'prompt':
        return;
    }
  }

  /** A little more than needed, so that it is seldom done. */
  #trim(branch: Branch): void {
    if (branch.bytes <= this.#keptBytes) return;
    let count = 0;
    for (; branch.bytes > this.#keptBytes * 0.9 && count < branch.entries.length - 1; count++)
      branch.bytes -= branch.entries[count]?.bytes ?? 0;
    branch.entries.splice(0, count);
    this.#isCut ||= count > 0;
  }
}

/** What was there, and what came with a history that took its place. */
function joined(before: readonly Entry[], after: readonly Entry[]): Entry[] {
  const known = new Set(before.map(({ message }) => keyOf(message)));
  return [...before, ...after.filter(({ message }) => !known.has(keyOf(message)))];
}

/** A message with calls or results is the same one however much of it was left out. */
function keyOf({ role, parts }: Message): string {
  const ids = parts.flatMap(({ functionCall, functionResponse }) => functionCall?.id ?? functionResponse?.id ?? []);
  return JSON.stringify([role, ids.length > 0 ? ids : parts]);
}

function sizeOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes, 0);
}
