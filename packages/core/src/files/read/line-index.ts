import { type ReadableFile, readFully } from '../open-file.js';

/** How a line ends in bytes: one byte in most encodings, two or four in UTF-16 and UTF-32. */
export function newlineOf(encodingName: string): Buffer {
  return wideNewlines[encodingName] ?? narrowNewline;
}

const narrowNewline = Buffer.from([10]);
const wideNewlines: Record<string, Buffer> = {
  'utf-16le': Buffer.from([10, 0]),
  'utf-16be': Buffer.from([0, 10]),
  'utf-32le': Buffer.from([10, 0, 0, 0]),
  'utf-32be': Buffer.from([0, 0, 0, 10]),
};

/** Steps over at most `wanted` lines; `end` is where the next one starts, absent when the bytes end before. */
export function skipLines(bytes: Buffer, newline: Buffer, wanted: number): { count: number; end?: number } {
  return newline.length === 1 ? skipNarrow(bytes, wanted) : skipWide(bytes, newline, wanted);
}

/** `indexOf` is fastest for ordinary lines, a plain loop for very short ones: `npm run bench -- --only 'of 1 GB, for'`. */
function skipNarrow(bytes: Buffer, wanted: number): { count: number; end?: number } {
  let count = 0;
  let at = 0;
  while (count < wanted) {
    const start = at;
    for (const stop = Math.min(wanted, count + burst); count < stop; count++) {
      const hit = bytes.indexOf(10, at);
      if (hit === -1) return { count };
      at = hit + 1;
    }
    const isDense = at - start < burst * shortLine;
    const stop = isDense ? Math.min(bytes.length, at + burst * shortLine) : at;
    for (; at < stop && count < wanted; at++) if (bytes[at] === 10) count++;
  }
  return { count, end: at };
}

const burst = 512;
const shortLine = 16;

/** In UTF-16 and UTF-32 the bytes of a newline may also straddle two characters. */
function skipWide(bytes: Buffer, newline: Buffer, wanted: number): { count: number; end?: number } {
  const width = newline.length;
  let count = 0;
  let at = 0;
  while (count < wanted) {
    const hit = bytes.indexOf(newline, at);
    if (hit === -1) return { count };
    const isAligned = hit % width === 0;
    at = hit + (isAligned ? width : 1);
    if (isAligned) count++;
  }
  return { count, end: at };
}

/** Lines in a whole text. A newline at the very end begins no further line. */
export function countLines(bytes: Buffer, newline: Buffer): number {
  if (bytes.length === 0) return 0;
  return skipLines(bytes, newline, Number.POSITIVE_INFINITY).count + (endsWith(bytes, newline) ? 0 : 1);
}

function endsWith(bytes: Buffer, newline: Buffer): boolean {
  return bytes.subarray(-newline.length).equals(newline);
}

/**
 * Where lines start in one version of a file. It saves a scan from the start when a large file is read in parts:
 * `npm run bench -- --only 'of 1 GB, again'`. The file is scanned only as far as needed, with a checkpoint every megabyte
 * or 4,096 times per file, whichever is less.
 */
export class LineIndex {
  readonly #size: number;
  readonly #newline: Buffer;
  readonly #step: number;
  /** Newlines before byte `index * step`. */
  readonly #checkpoints: number[] = [0];
  #total: number | undefined;

  constructor(size: number, newline: Buffer) {
    this.#size = size;
    this.#newline = newline;
    this.#step = Math.max(1, Math.ceil(size / chunkSize / maxCheckpoints)) * chunkSize;
  }

  /** Known once the whole file has been scanned. A newline at the very end begins no further line. */
  get totalLines(): number | undefined {
    return this.#total;
  }

  /** The byte at which line `line` (from 0) starts, or `undefined` when the file has no such line. */
  async find(fd: number, line: number, signal: AbortSignal): Promise<number | undefined> {
    if (line === 0 && this.#size > 0) return 0;
    if (this.#total !== undefined && line >= this.#total) return undefined;
    let checkpoint = this.#checkpoints.findLastIndex((count) => count <= line - 1);
    let position = checkpoint * this.#step;
    let seen = this.#checkpoints[checkpoint] ?? 0;
    let endsWithNewline = true;
    for await (const chunk of chunks(fd, position, this.#size)) {
      signal.throwIfAborted();
      const { count, end } = skipLines(chunk, this.#newline, line - seen);
      if (end !== undefined && position + end < this.#size) return position + end;
      seen += count;
      position += chunk.length;
      endsWithNewline = endsWith(chunk, this.#newline);
      if (position % this.#step === 0) this.#checkpoints[++checkpoint] = seen;
    }
    this.#total = seen + (endsWithNewline ? 0 : 1);
    return undefined;
  }

  async count(fd: number, signal: AbortSignal): Promise<number> {
    await this.find(fd, Number.POSITIVE_INFINITY, signal);
    return this.#total ?? 0;
  }
}

const chunkSize = 1024 * 1024;
const maxCheckpoints = 4096;

/** The bytes of a file in megabytes. The next one is read meanwhile: `npm run bench -- --only 'of 1 GB, for'`. */
async function* chunks(fd: number, start: number, end: number): AsyncGenerator<Buffer> {
  const buffers = [Buffer.allocUnsafe(chunkSize), Buffer.allocUnsafe(chunkSize)] as const;
  let position = start;
  const readInto = (buffer: Buffer) => {
    const reading = readFully(fd, buffer, position, Math.min(chunkSize, end - position));
    // It may fail before it is awaited; the later await still throws.
    reading.catch(() => {});
    return reading;
  };
  let pending = readInto(buffers[0]);
  try {
    for (let turn = 1; position < end; turn++) {
      const chunk = await pending;
      if (chunk.length === 0) return;
      position += chunk.length;
      pending = readInto(buffers[turn % 2 === 0 ? 0 : 1]);
      yield chunk;
    }
  } finally {
    // A caller that stops early closes the file, which must not happen during a read.
    await pending.catch(() => undefined);
  }
}

const indexes = new Map<string, LineIndex>();
const maxIndexes = 64;

/** The index for this version of the file; another size, time or inode is another version. */
export function lineIndexOf({ stat }: ReadableFile, encodingName: string): LineIndex {
  const key = [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs, encodingName].join(':');
  const index = indexes.get(key) ?? new LineIndex(Number(stat.size), newlineOf(encodingName));
  indexes.delete(key);
  indexes.set(key, index);
  const oldest = indexes.keys().next();
  if (indexes.size > maxIndexes && oldest.done !== true) indexes.delete(oldest.value);
  return index;
}
