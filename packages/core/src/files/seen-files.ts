import { createHash } from 'node:crypto';

/**
 * What the model knows of each file, as hashes of whole contents: `write_file` may replace only bytes it has seen.
 * Contents count, never times. Bounded: the file seen longest ago is forgotten first.
 */
export class SeenFiles {
  readonly #hashes = new Map<string, string>();

  /** The model has now seen (or itself written) exactly this content. */
  record(path: string, hash: string): void {
    this.#hashes.delete(path);
    this.#hashes.set(path, hash);
    const oldest = this.#hashes.keys().next();
    if (this.#hashes.size > maxFiles && oldest.done !== true) this.#hashes.delete(oldest.value);
  }

  has(path: string, hash: string): boolean {
    return this.#hashes.get(path) === hash;
  }
}

const maxFiles = 10_000;

/** The hash of a file's content, as `SeenFiles` keeps it. */
export function contentHash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}
