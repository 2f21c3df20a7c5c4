/**
 * An id like the one that is wanted and unlike all that are taken, which it then joins. Models reuse ids and forget them,
 * and results are matched with calls by id.
 */
export function uniqueId(wanted: string | undefined, taken: Set<string>): string {
  const base = wanted || 'call';
  let id = base;
  for (let n = taken.size + 1; id === 'call' || taken.has(id); n++) id = `${base}-${n}`;
  taken.add(id);
  return id;
}
