import { createHash } from 'node:crypto';

/** Lines counted from 0, `next` not included. */
export interface LineRange {
  first: number;
  next: number;
}

interface Sight {
  hash: string;
  /** The lines that the model has not seen yet. */
  unseen: readonly LineRange[];
}

/**
 * Which contents the model has seen: `write_file` may only replace a file whose present content was seen completely.
 * Contents count, never times; parts that cover a file count as the whole. Bounded: the least recently seen file is
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

  /** How much of this content the model has seen: all, a part, an older content, or nothing. */
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
