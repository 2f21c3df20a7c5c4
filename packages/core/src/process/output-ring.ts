/** The first and the last bytes of a stream, in memory that does not grow with it. */
export class OutputRing {
  readonly #head: Buffer;
  readonly #tail: Buffer;
  #headLength = 0;
  #tailEnd = 0;
  #total = 0;

  constructor(headBytes: number, tailBytes: number) {
    this.#head = Buffer.allocUnsafe(headBytes);
    this.#tail = Buffer.allocUnsafe(tailBytes);
  }

  get totalBytes(): number {
    return this.#total;
  }

  /** Bytes between head and tail that are no longer here. */
  get omittedBytes(): number {
    return Math.max(0, this.#total - this.#headLength - this.#tail.length);
  }

  push(chunk: Uint8Array): void {
    this.#total += chunk.length;
    const forHead = Math.min(chunk.length, this.#head.length - this.#headLength);
    this.#head.set(chunk.subarray(0, forHead), this.#headLength);
    this.#headLength += forHead;
    // Of a chunk longer than the tail only its end can stay.
    const rest = chunk.subarray(Math.max(forHead, chunk.length - this.#tail.length));
    const position = (this.#total - this.#headLength - rest.length) % this.#tail.length;
    const first = rest.subarray(0, this.#tail.length - position);
    this.#tail.set(first, position);
    this.#tail.set(rest.subarray(first.length), 0);
    this.#tailEnd = (position + rest.length) % this.#tail.length;
  }

  head(): Buffer {
    return this.#head.subarray(0, this.#headLength);
  }

  /** What came after the head, as far as it is still here, oldest byte first. */
  tail(): Buffer {
    const length = Math.min(this.#total - this.#headLength, this.#tail.length);
    if (length < this.#tail.length) return Buffer.from(this.#tail.subarray(0, length));
    return Buffer.concat([this.#tail.subarray(this.#tailEnd), this.#tail.subarray(0, this.#tailEnd)]);
  }

  /** The last `bytes` bytes of the stream that are still here. */
  end(bytes: number): Buffer {
    const tail = this.tail();
    if (tail.length >= bytes || this.omittedBytes > 0) return tail.subarray(Math.max(0, tail.length - bytes));
    const all = Buffer.concat([this.head(), tail]);
    return all.subarray(Math.max(0, all.length - bytes));
  }
}
