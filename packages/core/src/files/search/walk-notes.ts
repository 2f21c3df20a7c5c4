import { type BytePath, fromBytePath } from '../byte-path.js';

export const unusedIgnoreFiles = 'ignore files not used';
export const unreadDirectories = 'directories that could not be read';
export const mountsNotEntered = 'file systems not entered';
export const hiddenByAgent = 'hidden by .qwenignore or .latheignore';

/** What a search left out, for the end of a result. Keeps the first path of each kind and counts the rest. */
export class WalkNotes {
  readonly #notes = new Map<string, { count: number; first: string }>();

  add(kind: string, path: BytePath, reason?: string): void {
    const note = this.#notes.get(kind);
    if (note !== undefined) note.count++;
    else
      this.#notes.set(kind, {
        count: 1,
        first: shorten(fromBytePath(path)) + (reason === undefined ? '' : `: ${reason}`),
      });
  }

  has(kind: string): boolean {
    return this.#notes.has(kind);
  }

  /** One line per kind. */
  lines(): string[] {
    return [...this.#notes].map(([kind, { count, first }]) =>
      count === 1 ? `(${kind}: ${first})` : `(${kind}: ${first} and ${count - 1} more)`,
    );
  }
}

function shorten(path: string): string {
  return path.length <= 200 ? path : `${path.slice(0, 100)}…${path.slice(-99)}`;
}
