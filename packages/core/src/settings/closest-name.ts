/** The known name a person most likely meant, or `undefined` when none is near. */
export function closestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > 80) return undefined;
  const reach = name.length < 5 ? 1 : Math.min(3, Math.floor(name.length / 4) + 1);
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > reach) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance <= reach && (best === undefined || distance < best.distance)) best = { name: candidate, distance };
  }
  return best?.name;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
