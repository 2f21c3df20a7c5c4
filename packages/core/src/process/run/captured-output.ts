import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { RedactStream } from '../../text/redact.js';
import { plainText } from '../../text/visible-text.js';

/** Where the full output of a command goes when it does not fit in memory, and how it is shown. */
export interface CaptureOptions {
  /** A private directory. */
  directory: string;
  maxBytes: number;
  /** `start` writes every byte, so that a long-running command can be followed; `overflow` writes when memory is full. */
  from: 'start' | 'overflow';
  /** Our own text to remove from the output: a shell repeats the line with a syntax error. */
  concealed?: string;
  /** Values that the file must not contain, besides everything that looks like a token. */
  secrets?: readonly string[];
}

const headBytes = 6_000;
const tailBytes = 22_000;

/** The output of a command: head and tail in memory, all of it (up to a limit, and redacted) in a file. */
export class CapturedOutput {
  readonly #ring = new OutputRing(headBytes, tailBytes);
  readonly #options: CaptureOptions;
  #file: number | undefined;
  #path: string | undefined;
  /** Redacts bytes as Latin-1 text, which leaves all other bytes as they are. */
  readonly #redacted: RedactStream;
  /** What was given to the file, before it was redacted. */
  #receivedBytes = 0;
  #spilledBytes = 0;
  #isFull = false;
  #isFailed = false;
  #isBinary = false;

  constructor(options: CaptureOptions) {
    this.#options = options;
    this.#redacted = new RedactStream(options.secrets?.map((secret) => Buffer.from(secret).toString('latin1')));
    // A reader may want to follow the file before the first byte arrives.
    if (options.from === 'start') this.#write(new Uint8Array(0));
  }

  get totalBytes(): number {
    return this.#ring.totalBytes;
  }

  /** The output contains a NUL byte near its start. */
  get isBinary(): boolean {
    return this.#isBinary;
  }

  /** The file with the full output, once there is one. */
  get path(): string | undefined {
    return this.#path;
  }

  /** Some of the output is no longer in memory. */
  get isCut(): boolean {
    return this.#ring.omittedBytes > 0;
  }

  get spilledBytes(): number {
    return this.#spilledBytes;
  }

  /** True when the file holds everything printed. */
  get isComplete(): boolean {
    return !this.#isFailed && !this.#isFull && this.#receivedBytes === this.totalBytes;
  }

  /** Adds the next bytes. */
  push(chunk: Uint8Array): void {
    if (this.totalBytes < sniffedBytes) this.#isBinary ||= chunk.includes(0);
    const isSpilling = this.#file !== undefined || this.#options.from === 'start';
    if (isSpilling) this.#write(chunk);
    else if (!this.isCut && this.totalBytes + chunk.length > headBytes + tailBytes) {
      // Everything printed so far is still in memory, for the last time.
      for (const part of [this.#ring.head(), this.#ring.tail(), chunk]) this.#write(part);
    }
    this.#ring.push(chunk);
  }

  /** Loads what another process wrote into the file. */
  async adopt(): Promise<void> {
    if (this.#path === undefined) return;
    const bytes = await readFile(this.#path);
    this.#isBinary = bytes.subarray(0, sniffedBytes).includes(0);
    this.#receivedBytes = bytes.length;
    this.#spilledBytes = bytes.length;
    this.#ring.push(bytes);
  }

  /** Writes the line that has not ended yet, for somebody who reads the file now. */
  flush(): void {
    if (this.#file !== undefined) this.#save(this.#redacted.flush());
  }

  /** Closes the file; the output stays readable. */
  close(): void {
    this.flush();
    if (this.#file !== undefined) closeSync(this.#file);
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

  /** The last lines, for a live view. */
  tailText(bytes = 4_000): string {
    return this.#clean(decodeWhole(this.#ring.end(bytes)));
  }

  /** Reads bytes of the file. */
  async bytes(start: number, length: number): Promise<Buffer> {
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
    const { concealed } = this.#options;
    return plainText(concealed ? text.replaceAll(concealed, '') : text);
  }

  #write(chunk: Uint8Array): void {
    if (this.#isFailed || this.#isFull) return;
    this.#receivedBytes += chunk.length;
    const { buffer, byteOffset, length } = chunk;
    this.#save(this.#redacted.push(Buffer.from(buffer, byteOffset, length).toString('latin1')));
  }

  /**
   * Writes synchronously: the kernel only copies the bytes to its page cache, which is faster than queueing them for a
   * thread. If the disk fails, the file is lost; the command continues.
   */
  #save(text: string): void {
    const bytes = Buffer.from(text, 'latin1');
    const part = bytes.subarray(0, this.#options.maxBytes - this.#spilledBytes);
    this.#isFull ||= part.length < bytes.length;
    try {
      this.#file ??= this.#create();
      for (let done = 0; done < part.length; ) done += writeSync(this.#file, part, done);
      this.#spilledBytes += part.length;
    } catch {
      this.#isFailed = true;
    }
  }

  #create(): number {
    const path = join(this.#options.directory, `shell-${randomBytes(6).toString('hex')}.log`);
    const file = openSync(path, 'wx', 0o600);
    this.#path = path;
    return file;
  }
}

const sniffedBytes = 8_192;

/** Decodes bytes that may begin or end inside a character. */
function decodeWhole(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  // Unlike `toString`, it leaves out a character that was cut off at the end.
  return new StringDecoder('utf8').write(bytes.subarray(start));
}

const updateMs = 100;

export interface LiveTail {
  /** Call it after each piece of output. */
  onOutput: (output: CapturedOutput) => void;
  /** Ends the updates. */
  stop: () => void;
}

/** Shows the last lines of a running command at most every 100 ms, and always after its last output. */
export function liveTail(show: (tail: { text: string; totalBytes: number }) => void): LiveTail {
  let timer: NodeJS.Timeout | undefined;
  const onOutput = (output: CapturedOutput) => {
    timer ??= setTimeout(() => {
      timer = undefined;
      const text = output.isBinary ? `[receiving binary output, ${output.totalBytes} bytes]` : output.tailText();
      show({ text, totalBytes: output.totalBytes });
    }, updateMs);
  };
  return { onOutput, stop: () => clearTimeout(timer) };
}

/** Keeps the first and last bytes of a stream in a fixed amount of memory. */
export class OutputRing {
  readonly #head: Buffer;
  readonly #tailBytes: number;
  /** Allocated when the head is full: most commands print less. */
  #tail = Buffer.alloc(0);
  #headLength = 0;
  #total = 0;

  constructor(headSize: number, tailSize: number) {
    this.#head = Buffer.allocUnsafe(headSize);
    this.#tailBytes = tailSize;
  }

  get totalBytes(): number {
    return this.#total;
  }

  /** Bytes between head and tail that were dropped. */
  get omittedBytes(): number {
    return Math.max(0, this.#total - this.#headLength - this.#tailBytes);
  }

  push(chunk: Uint8Array): void {
    this.#total += chunk.length;
    const forHead = Math.min(chunk.length, this.#head.length - this.#headLength);
    this.#head.set(chunk.subarray(0, forHead), this.#headLength);
    this.#headLength += forHead;
    // If the chunk is longer than the tail, only its end is kept.
    const rest = chunk.subarray(Math.max(forHead, chunk.length - this.#tailBytes));
    if (rest.length === 0) return;
    if (this.#tail.length === 0) this.#tail = Buffer.allocUnsafe(this.#tailBytes);
    const position = (this.#total - this.#headLength - rest.length) % this.#tailBytes;
    const first = rest.subarray(0, this.#tailBytes - position);
    this.#tail.set(first, position);
    this.#tail.set(rest.subarray(first.length), 0);
  }

  head(): Buffer {
    return this.#head.subarray(0, this.#headLength);
  }

  /** The kept bytes after the head, oldest first. */
  tail(): Buffer {
    const length = Math.min(this.#total - this.#headLength, this.#tailBytes);
    if (length < this.#tailBytes) return Buffer.from(this.#tail.subarray(0, length));
    const end = (this.#total - this.#headLength) % this.#tailBytes;
    return Buffer.concat([this.#tail.subarray(end), this.#tail.subarray(0, end)]);
  }

  /** The last `bytes` kept bytes of the stream. */
  end(bytes: number): Buffer {
    const tail = this.tail();
    if (tail.length >= bytes || this.omittedBytes > 0) return tail.subarray(Math.max(0, tail.length - bytes));
    const all = Buffer.concat([this.head(), tail]);
    return all.subarray(Math.max(0, all.length - bytes));
  }
}
