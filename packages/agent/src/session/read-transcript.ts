import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { ExposureSource } from '@lathe/core/host';
import type { Message } from '../models/model.js';
import { type CallRecord, decodeLine, type Line, type SessionRecord, type TurnRecord } from './record.js';
import { addPoint, type RewindPoint } from './rewind-points.js';
import { maxLineBytes } from './transcript.js';

/** The content of a transcript. */
export interface StoredSession {
  header: Extract<SessionRecord, { type: 'session' }> | undefined;
  messages: Message[];
  /** Where the session can go back to, the oldest first. */
  points: readonly RewindPoint[];
  /** Time and tokens of the model's answers, as far as known. */
  turns: ReadonlyMap<Message, TurnRecord>;
  /** The outcome of each call, by its id. */
  calls: ReadonlyMap<string, CallRecord>;
  /** What came into the session, in all that was written of it. */
  sources: readonly ExposureSource[];
  /** The last record, from which a resumed session continues. */
  last: Pick<Line, 'writer' | 'number'> | undefined;
  /** The number of damaged or missing records. */
  lost: number;
  /** The transcript is too long, so its beginning was not read. */
  isCut: boolean;
}

/** How much of a file one call returns. */
export interface ReadLimits {
  /** How much of the file to read, from its end. */
  bytes?: number;
  /** How much of the messages to keep, in bytes of the file. */
  keptBytes?: number;
  /** Include what compactions and clearing removed: for people who look back, not to continue the session. */
  isWhole?: boolean;
}

/**
 * Reads a transcript in any state: damaged records are skipped and counted, the file never changes. If two writers
 * continued the same session, follows the one who wrote last. Bounded in time and memory.
 */
export async function readTranscript(
  path: string,
  { bytes = 256 << 20, keptBytes = 64 << 20, isWhole = false }: ReadLimits = {},
): Promise<StoredSession> {
  const file = await openPrivate(path);
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - bytes);
    const reader = new Reader({ keptBytes, isWhole, isCut: start > 0 });
    for await (const line of linesOf(file, start)) reader.add(line);
    return reader.session();
  } finally {
    await file.close();
  }
}

/** Opens a file that no other user could have written. */
export async function openPrivate(path: string): Promise<FileHandle> {
  // Flags that a system lacks are undefined, which counts as 0 here.
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
  // The first line is incomplete when reading starts inside the file.
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
  /** Of its writer; 0 for entries from before this writer. */
  number: number;
}

/** The history as one writer sees it. */
interface Branch {
  entries: Entry[];
  points: (RewindPoint & Pick<Entry, 'number'>)[];
  /** Of all entries. */
  bytes: number;
  /** Of its last record. */
  number: number;
}

class Reader {
  readonly #keptBytes: number;
  readonly #isWhole: boolean;
  readonly #branches = new Map<string, Branch>();
  #current: Branch = { entries: [], points: [], bytes: 0, number: 0 };
  readonly #turns = new Map<Message, TurnRecord>();
  readonly #calls = new Map<string, CallRecord>();
  readonly #sources: ExposureSource[] = [];
  #header: StoredSession['header'];
  #last: StoredSession['last'];
  #damaged = 0;
  #missing = 0;
  #isCut: boolean;

  constructor({ keptBytes, isWhole, isCut }: { keptBytes: number; isWhole: boolean; isCut: boolean }) {
    this.#keptBytes = keptBytes;
    this.#isWhole = isWhole;
    this.#isCut = isCut;
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
      messages: messagesOf(this.#current),
      points: this.#current.points.map(({ number: _number, ...point }) => point),
      turns: this.#turns,
      calls: this.#calls,
      sources: this.#sources,
      last: this.#last,
      lost: Math.max(this.#damaged, this.#missing),
      isCut: this.#isCut,
    };
  }

  /** A new writer continues from the record it names or, when that is missing, from what was written last. */
  #begin(writer: string, record: SessionRecord): Branch {
    const named = record.type === 'resume' ? this.#branches.get(record.writer) : undefined;
    const end = record.type === 'resume' && named ? record.number : Infinity;
    const source = named ?? this.#current;
    const known = <T extends Pick<Entry, 'number'>>(list: readonly T[]) =>
      list.filter(({ number }) => number <= end).map((each) => ({ ...each, number: 0 }));
    const entries = known(source.entries);
    const branch = { entries, points: known(source.points), bytes: sizeOf(entries), number: 0 };
    this.#branches.set(writer, branch);
    return branch;
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
      case 'source': {
        const { type: _, ...source } = record;
        this.#sources.push(source);
        return;
      }
      case 'prompt':
      case 'rewind':
        addPoint(branch.points, { type: record.type, text: record.text, history: messagesOf(branch), number });
        return;
      case 'snapshot': {
        const { type: _, when, ...snapshot } = record;
        const last = branch.points.at(-1);
        if (last) last[when] = snapshot;
        return;
      }
      case 'resume':
        return;
    }
  }

  /** Removes a little more than needed, so that it happens rarely. */
  #trim(branch: Branch): void {
    if (branch.bytes <= this.#keptBytes) return;
    let count = 0;
    for (; branch.bytes > this.#keptBytes * 0.9 && count < branch.entries.length - 1; count++)
      branch.bytes -= branch.entries[count]?.bytes ?? 0;
    branch.entries.splice(0, count);
    for (const point of branch.points) delete point.history;
    this.#isCut ||= count > 0;
  }
}

/** The entries before a new history, and those that are new in it. */
function joined(before: readonly Entry[], after: readonly Entry[]): Entry[] {
  const known = new Set(before.map(({ message }) => keyOf(message)));
  return [...before, ...after.filter(({ message }) => !known.has(keyOf(message)))];
}

/** A message with calls or results is the same one even if some of its content was removed. */
function keyOf({ role, parts }: Message): string {
  const ids = parts.flatMap(({ functionCall, functionResponse }) => functionCall?.id ?? functionResponse?.id ?? []);
  return JSON.stringify([role, ids.length > 0 ? ids : parts]);
}

function messagesOf({ entries }: Branch): Message[] {
  return entries.map(({ message }) => message);
}

function sizeOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes, 0);
}
