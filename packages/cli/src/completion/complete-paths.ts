import { visibleText } from '@lathe/core/host';
import { mentionOf } from '../mentions/mentioned-paths.js';
import { type Candidate, type CompletionSource, maxCandidates } from './completions.js';
import { rankPaths } from './rank-paths.js';

/** The mention that ends at the cursor, open quote or not. */
const openMention = /(?:^|\s)@("[^"\n]*|[^\s"]*)$/;

/** `@na` → the files and folders whose names fit, then whatever else can be mentioned like that. */
export function completePaths(
  paths: () => readonly string[],
  others: (query: string) => readonly Candidate[] = () => [],
): CompletionSource {
  return (text, cursor, signal) => {
    const typed = openMention.exec(text.slice(0, cursor))?.[1];
    if (typed === undefined) return undefined;
    return offer(typed, cursor, signal);
  };

  async function offer(typed: string, cursor: number, signal: AbortSignal) {
    const query = typed.replace(/^"/, '').replace(/\\(.)/g, '$1');
    const mentions = others(query);
    const limit = maxCandidates - Math.min(mentions.length, maxCandidates / 2);
    const found = await rankPaths(paths(), query, { limit, signal });
    const isWhole = found.includes(query) || (query.endsWith('/') && query.length > 1);
    return {
      start: cursor - typed.length - 1,
      candidates: [
        ...found.map((path) => ({ label: visibleText(path), insert: insertOf(path) })),
        ...mentions.slice(0, maxCandidates - found.length),
      ],
      // Who has typed a whole name means it.
      onEnter: isWhole ? ('send' as const) : ('take' as const),
    };
  }
}

/** A folder is left open, so that one can go on into it; after a file comes the next word. */
function insertOf(path: string): string {
  const mention = mentionOf(path);
  if (!path.endsWith('/')) return `${mention} `;
  return mention.endsWith('"') ? mention.slice(0, -1) : mention;
}
