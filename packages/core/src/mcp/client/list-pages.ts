/** One page of a server's list. */
export interface Page<T> {
  items: readonly T[];
  nextCursor?: string | undefined;
}

export interface Listing<T> {
  items: T[];
  /** Why the list is not complete. */
  warning?: string;
}

const maxPages = 100;
const maxItems = 2_048;
const maxChars = 8 * 1024 * 1024;
const maxCursorChars = 16 * 1024;

/** Reads all pages of a list, up to several limits, because a server may send pages forever. */
export async function listPages<T>(fetchPage: (cursor?: string) => Promise<Page<T>>): Promise<Listing<T>> {
  const items: T[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  let chars = 0;
  for (let page = 0; page < maxPages; page++) {
    const { items: more, nextCursor } = await fetchPage(cursor);
    chars += textIn(more);
    items.push(...more.slice(0, maxItems - items.length));
    if (nextCursor === undefined || nextCursor === '') return { items };
    const problem = chars > maxChars ? 'it is too long' : problemOf(nextCursor, seen, items.length);
    if (problem !== undefined) return { items, warning: `its list was cut: ${problem}` };
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return { items, warning: `its list was cut after ${maxPages} pages` };
}

function problemOf(cursor: string, seen: ReadonlySet<string>, count: number): string | undefined {
  if (count >= maxItems) return `more than ${maxItems} entries`;
  if (cursor.length > maxCursorChars) return 'the cursor is too long';
  return seen.has(cursor) ? 'the server sent the same cursor twice' : undefined;
}

/** The number of characters in all strings and keys of a value, without the memory that `JSON.stringify` needs. */
function textIn(value: unknown): number {
  let count = 0;
  for (const waiting = [value]; waiting.length > 0; ) {
    const next = waiting.pop();
    if (typeof next === 'string') count += next.length;
    if (typeof next !== 'object' || next === null) continue;
    for (const [key, child] of Object.entries(next)) {
      count += key.length;
      waiting.push(child);
    }
  }
  return count;
}
