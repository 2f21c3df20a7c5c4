import { setImmediate as nextTurn } from 'node:timers/promises';

/** Ranking yields to the event loop after this time. */
const sliceMs = 4;

/** The paths that match a query best, best first. Yields regularly, so that keys do not wait. */
export async function rankPaths(
  paths: readonly string[],
  query: string,
  { limit, signal }: { limit: number; signal: AbortSignal },
): Promise<string[]> {
  const best: { path: string; score: number }[] = [];
  const wanted = query.toLowerCase();
  let since = performance.now();
  for (const [index, path] of paths.entries()) {
    if (index % 256 === 255 && performance.now() - since > sliceMs) {
      await nextTurn();
      signal.throwIfAborted();
      since = performance.now();
    }
    const score = scoreOf(path, wanted);
    if (score === undefined) continue;
    const worst = best.at(-1);
    if (best.length === limit && worst && !isBetter(path, score, worst)) continue;
    const place = best.findIndex((other) => isBetter(path, score, other));
    best.splice(place === -1 ? best.length : place, 0, { path, score });
    best.length = Math.min(best.length, limit);
  }
  return best.map(({ path }) => path);
}

function isBetter(path: string, score: number, other: { path: string; score: number }): boolean {
  return score > other.score || (score === other.score && path < other.path);
}

/**
 * How well a path matches; `undefined` if it does not contain all letters of the query in order. A contiguous match
 * beats scattered letters, the name beats its folders, the start of a word beats its middle, and short beats long.
 */
export function scoreOf(path: string, query: string): number | undefined {
  if (query === '' || query.endsWith('/')) return isChild(path, query) ? -path.length : undefined;
  const lower = path.toLowerCase();
  const name = lower.lastIndexOf('/', lower.length - 2) + 1;
  const inName = lower.indexOf(query, name);
  if (inName !== -1) return (inName === name ? 6000 : isWordStart(path, inName) ? 5000 : 4000) - path.length;
  const inPath = lower.lastIndexOf(query);
  if (inPath !== -1) return (isWordStart(path, inPath) ? 3000 : 2000) - path.length;
  const letters = scattered(path, lower, query);
  return letters === undefined ? undefined : letters - path.length;
}

/** Directly in the folder that the query names. */
function isChild(path: string, folder: string): boolean {
  if (path.length <= folder.length || !path.toLowerCase().startsWith(folder)) return false;
  const slash = path.indexOf('/', folder.length);
  return slash === -1 || slash === path.length - 1;
}

/** Points for letters in order, matched from the end so that the name gets most of them. */
function scattered(path: string, lower: string, query: string): number | undefined {
  let points = 0;
  let at = lower.length;
  for (let index = query.length - 1; index >= 0; index--) {
    const letter = query[index] ?? '';
    const previous = at;
    at = at === 0 ? -1 : lower.lastIndexOf(letter, at - 1);
    if (at === -1) return undefined;
    if (at === previous - 1) points += 15;
    else if (isWordStart(path, at)) points += 20;
  }
  return points;
}

function isWordStart(path: string, at: number): boolean {
  const before = path[at - 1];
  if (before === undefined || /[/._\- ]/.test(before)) return true;
  const here = path[at] ?? '';
  return here !== here.toLowerCase() && before === before.toLowerCase();
}
