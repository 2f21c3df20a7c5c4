/** Keeps the first and last bytes of a stream in a fixed amount of memory. */
export class OutputRing {
  readonly #head: Buffer;
  readonly #tailBytes: number;
  /** Allocated when the head is full: most commands print less. */
  #tail = Buffer.alloc(0);
  #headLength = 0;
  #total = 0;

  constructor(headBytes: number, tailBytes: number) {
    this.#head = Buffer.allocUnsafe(headBytes);
    this.#tailBytes = tailBytes;
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
