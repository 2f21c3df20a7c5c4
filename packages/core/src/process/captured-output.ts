import { randomBytes } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { plainText } from '../text/terminal-text.js';
import { OutputRing } from './output-ring.js';

/** Where the full output of a command goes once it no longer fits in memory, and how it is shown. */
export interface CaptureOptions {
  /** A private directory; asked for only when the first byte is spilled. */
  directory: () => Promise<string>;
  maxBytes: number;
  /** `start` writes every byte, so that a long-running command can be followed; `overflow` waits until it is needed. */
  from: 'start' | 'overflow';
  /** Text of ours that must not show: the shell repeats the line it stumbled over. */
  concealed?: string;
}

const headBytes = 6_000;
const tailBytes = 22_000;
/** Bytes waiting for the disk above which the command is made to wait too. */
const maxPendingBytes = 4 * 1024 * 1024;

/** What a command prints: its head and tail in memory, all of it (up to a limit) in a file. */
export class CapturedOutput {
  readonly #ring = new OutputRing(headBytes, tailBytes);
  readonly #options: CaptureOptions;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #acceptedBytes = 0;
  #writing: Promise<void> | undefined;
  #file: FileHandle | undefined;
  #path: string | undefined;
  #failure: unknown;
  #isBinary = false;

  constructor(options: CaptureOptions) {
    this.#options = options;
  }

  get totalBytes(): number {
    return this.#ring.totalBytes;
  }

  /** Printed something that is not text. */
  get isBinary(): boolean {
    return this.#isBinary;
  }

  /** The file with the full output, once there is one. */
  get path(): string | undefined {
    return this.#path;
  }

  /** Some of it is no longer in memory. */
  get isCut(): boolean {
    return this.#ring.omittedBytes > 0;
  }

  /** True when the file holds every byte printed. */
  get isComplete(): boolean {
    return this.#failure === undefined && this.#acceptedBytes === this.totalBytes;
  }

  /** Takes the next bytes. A promise means: read no more until it is done. */
  push(chunk: Uint8Array): Promise<void> | undefined {
    if (this.totalBytes < sniffedBytes) this.#isBinary ||= chunk.includes(0);
    const spills = this.#path !== undefined || this.#writing !== undefined || this.#options.from === 'start';
    if (spills) this.#enqueue(chunk);
    else if (this.totalBytes + chunk.length > headBytes + tailBytes) {
      // The last moment at which nothing has been forgotten yet.
      this.#enqueue(Buffer.concat([this.#ring.head(), this.#ring.tail(), chunk]));
    }
    this.#ring.push(chunk);
    return this.#queuedBytes > maxPendingBytes ? this.#writing : undefined;
  }

  /** Waits until the file is written. */
  async close(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
  }

  /** The whole output as text, or head and tail with a note of what is missing between them. */
  text(): string {
    const omitted = this.#ring.omittedBytes;
    if (omitted === 0) return this.#clean(Buffer.concat([this.#ring.head(), this.#ring.tail()]).toString('utf8'));
    const head = this.#clean(decodeWhole(this.#ring.head()));
    const tail = this.#clean(decodeWhole(this.#ring.tail()));
    return `${head}\n[… ${omitted} bytes left out …]\n${tail}`;
  }

  /** The last lines, for somebody watching. */
  tailText(bytes = 4_000): string {
    return this.#clean(decodeWhole(this.#ring.end(bytes)));
  }

  /** Bytes of the file, once it holds them. */
  async bytes(start: number, length: number): Promise<Buffer> {
    await this.#writing;
    if (this.#path === undefined) return Buffer.alloc(0);
    const file = await open(this.#path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  #clean(text: string): string {
    const visible = this.#options.concealed ? text.replaceAll(this.#options.concealed, '') : text;
    return plainText(visible);
  }

  #enqueue(chunk: Uint8Array): void {
    const room = this.#options.maxBytes - this.#acceptedBytes;
    if (room <= 0 || this.#failure !== undefined) return;
    const part = chunk.subarray(0, room);
    this.#acceptedBytes += part.length;
    this.#queuedBytes += part.length;
    this.#queue.push(part);
    this.#startWriting();
  }

  #startWriting(): void {
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined;
      if (this.#queue.length > 0) this.#startWriting();
    });
  }

  /** One writer at a time; a disk that fails costs the file, never the command. */
  async #drain(): Promise<void> {
    try {
      this.#file ??= await this.#create();
      while (this.#queue.length > 0) {
        const batch = this.#queue;
        this.#queue = [];
        const bytes = batch.reduce((sum, { length }) => sum + length, 0);
        const { bytesWritten } = await this.#file.writev(batch);
        if (bytesWritten < bytes) throw new Error('the disk is full');
        this.#queuedBytes -= bytes;
      }
    } catch (error) {
      this.#failure = error;
      this.#queue = [];
      this.#queuedBytes = 0;
    }
  }

  async #create(): Promise<FileHandle> {
    const path = join(await this.#options.directory(), `shell-${randomBytes(6).toString('hex')}.log`);
    const file = await open(path, 'wx', 0o600);
    this.#path = path;
    return file;
  }
}

const sniffedBytes = 8_192;

/** Text of bytes that may begin or end inside a character. */
function decodeWhole(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start, bytes.length - incompleteEnd(bytes)).toString('utf8');
}

/** How many bytes at the end belong to a character that was cut off. */
function incompleteEnd(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}
