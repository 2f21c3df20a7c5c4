import { createHash } from 'node:crypto';

/** Lines counted from 0, `next` not included. */
export interface LineRange {
  first: number;
  next: number;
}

interface Sight {
  hash: string;
  /** What the model has not seen yet of this content. */
  unseen: readonly LineRange[];
}

/**
 * What the model knows of each file: `write_file` may replace only what it has seen, all of it, as it is now. Contents
 * count, never times; a file read in parts is known once the parts cover it. Bounded: the file seen longest ago is
 * forgotten first.
 */
export class SeenFiles {
  readonly #sights = new Map<string, Sight>();

  /** The model has now seen (or itself written) exactly this content. */
  record(path: string, hash: string): void {
    this.#keep(path, { hash, unseen: [] });
  }

  /** The model has seen these lines of a content that has `total` of them. */
  recordLines(path: string, hash: string, lines: LineRange, total: number): void {
    const known = this.#sights.get(path);
    const unseen = known?.hash === hash ? known.unseen : [{ first: 0, next: total }];
    this.#keep(path, { hash, unseen: unseen.flatMap((range) => subtract(range, lines)) });
  }

  /** What the model knows of a file with this content: all of it, a part, an older content, or nothing. */
  knowledgeOf(path: string, hash: string): 'all' | 'part' | 'outdated' | 'none' {
    const sight = this.#sights.get(path);
    if (sight === undefined) return 'none';
    if (sight.hash !== hash) return 'outdated';
    return sight.unseen.length === 0 ? 'all' : 'part';
  }

  #keep(path: string, sight: Sight): void {
    this.#sights.delete(path);
    this.#sights.set(path, sight);
    const oldest = this.#sights.keys().next();
    if (this.#sights.size > maxFiles && oldest.done !== true) this.#sights.delete(oldest.value);
  }
}

const maxFiles = 10_000;

function subtract(range: LineRange, { first, next }: LineRange): LineRange[] {
  const before = { first: range.first, next: Math.min(range.next, first) };
  const after = { first: Math.max(range.first, next), next: range.next };
  return [before, after].filter((rest) => rest.first < rest.next);
}

/** The hash of a file's content, as `SeenFiles` keeps it. */
export function contentHash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}
