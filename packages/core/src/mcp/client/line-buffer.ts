const stepBytes = 256 * 1024;

const newline = 10;
const space = 32;
const openingBrace = 123;
/** Replaces a line that is not a message. */
const noise = '…';

/**
 * The beginning of a line whose end has not arrived yet. Frees its memory at once instead of at the next garbage
 * collection. Of a line that cannot become a message, keeps only the length.
 */
export class LineBuffer {
  readonly #maxBytes: number;
  #storage: ArrayBuffer | undefined;
  #length = 0;
  #isNoise = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** The lines that `chunk` completes, `undefined` for one that is too long; keeps the rest of the chunk. */
  *linesWith(chunk: Buffer): Generator<string | undefined> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      if (this.isEmpty) yield chunk.toString('utf8', start, end);
      else yield this.append(chunk.subarray(start, end)) ? this.take() : undefined;
      start = end + 1;
    }
    if (start < chunk.length && !this.append(chunk.subarray(start))) yield undefined;
  }

  /** False when the line is too long; then the buffer is empty. */
  append(bytes: Uint8Array): boolean {
    const length = this.#length + bytes.length;
    if (length > this.#maxBytes) {
      this.clear();
      return false;
    }
    if (this.isEmpty) this.#isNoise = !canBegin(bytes[0]);
    if (!this.#isNoise) this.#store(bytes, length);
    this.#length = length;
    return true;
  }

  /** Empties the buffer and returns its text, or a placeholder for a line that is not a message. */
  take(): string {
    const storage = this.#isNoise ? undefined : this.#storage;
    const text = storage ? Buffer.from(storage, 0, this.#length).toString('utf8') : noise;
    this.clear();
    return text;
  }

  clear(): void {
    this.#storage?.resize(0);
    this.#length = 0;
  }

  #store(bytes: Uint8Array, length: number): void {
    this.#storage ??= new ArrayBuffer(0, { maxByteLength: this.#maxBytes });
    if (length > this.#storage.byteLength)
      this.#storage.resize(Math.min(this.#maxBytes, Math.ceil(length / stepBytes) * stepBytes));
    new Uint8Array(this.#storage, this.#length).set(bytes);
  }
}

/** Whether a message can begin with this byte: a brace, or white space before it. */
function canBegin(byte: number | undefined): boolean {
  return byte === undefined || byte === openingBrace || byte <= space;
}
