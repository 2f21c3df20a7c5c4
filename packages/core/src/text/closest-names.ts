interface Options {
  /** The largest number of names. */
  count?: number;
  /** Leave out names that need more edits than this. */
  within?: number;
}

/** Longer names are compared by their beginning: hostile input must not cost quadratic time. */
const comparedChars = 64;

/** The known names closest to `name` by edit distance, nearest first; case, `-` and `_` are ignored. */
export function closestNames(name: string, known: Iterable<string>, options: Options = {}): string[] {
  const { count = 3, within = Number.POSITIVE_INFINITY } = options;
  const wanted = withoutCaseStyle(name);
  return [...known]
    .map((candidate, order) => ({ candidate, order, distance: editDistance(wanted, withoutCaseStyle(candidate)) }))
    .filter(({ distance }) => distance <= within)
    .sort((a, b) => a.distance - b.distance || a.order - b.order)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** The closest names that differ from `name` in at most a third of its characters. */
export function likelyNames(name: string, known: Iterable<string>): string[] {
  return closestNames(name, known, { within: Math.max(1, Math.floor(name.length / 3)) });
}

/** A name without its case style: `filePath`, `file_path` and `File-Path` are the same. */
export function withoutCaseStyle(name: string): string {
  return name.slice(0, comparedChars).toLowerCase().replaceAll(/[-_]/g, '');
}

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
