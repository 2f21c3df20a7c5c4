import { visibleText } from '@lathe/core/host';
import { mentionOf } from '../mentions/mentioned-paths.js';
import { type Candidate, type CompletionSource, maxCandidates } from './completions.js';
import { rankPaths } from './rank-paths.js';

/** The mention before the cursor, with or without an opening quote. */
const openMention = /(?:^|\s)@("[^"\n]*|[^\s"]*)$/;

/** Completes `@na` to files and folders, then to the other mentions. */
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
    const isComplete = found.includes(query) || (query.endsWith('/') && query.length > 1);
    return {
      start: cursor - typed.length - 1,
      candidates: [
        ...found.map((path) => ({ label: visibleText(path), insert: insertOf(path) })),
        ...mentions.slice(0, maxCandidates - found.length),
      ],
      // After a complete name, Enter sends the prompt.
      onEnter: isComplete ? ('send' as const) : ('accept' as const),
    };
  }
}

/** After a folder the person can continue with a path inside it; after a file comes a space. */
function insertOf(path: string): string {
  const mention = mentionOf(path);
  if (!path.endsWith('/')) return `${mention} `;
  return mention.endsWith('"') ? mention.slice(0, -1) : mention;
}
