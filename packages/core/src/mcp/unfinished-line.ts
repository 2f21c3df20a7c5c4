const stepBytes = 256 * 1024;

/** The beginning of a line whose end has not come yet. Its memory is given back at once, not when it is next collected. */
export class UnfinishedLine {
  readonly #maxBytes: number;
  #storage: ArrayBuffer | undefined;
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** False when the line is too long, and then nothing is kept of it. */
  append(bytes: Uint8Array): boolean {
    const length = this.#length + bytes.length;
    if (length > this.#maxBytes) {
      this.clear();
      return false;
    }
    this.#storage ??= new ArrayBuffer(0, { maxByteLength: this.#maxBytes });
    if (length > this.#storage.byteLength)
      this.#storage.resize(Math.min(this.#maxBytes, Math.ceil(length / stepBytes) * stepBytes));
    new Uint8Array(this.#storage, this.#length).set(bytes);
    this.#length = length;
    return true;
  }

  /** The text so far, after which there is none. */
  take(): string {
    const text = this.#storage ? Buffer.from(this.#storage, 0, this.#length).toString('utf8') : '';
    this.clear();
    return text;
  }

  clear(): void {
    this.#storage?.resize(0);
    this.#length = 0;
  }
}
