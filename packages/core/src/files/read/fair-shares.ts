/**
 * Splits a budget between texts of these sizes: a short text leaves the rest to the others, and each gets at least
 * `least` or its size. Texts at the end that get nothing are `undefined`.
 */
export function fairShares(sizes: readonly number[], budget: number, least: number): (number | undefined)[] {
  const served = countServed(sizes, budget, least);
  const admitted = sizes.slice(0, served).toSorted((a, b) => a - b);
  let remaining = budget;
  let level = 0;
  for (const [index, size] of admitted.entries()) {
    level = Math.floor(remaining / (admitted.length - index));
    if (size > level) break;
    remaining -= size;
    level = size;
  }
  return sizes.map((size, index) => (index < served ? Math.min(size, level) : undefined));
}

function countServed(sizes: readonly number[], budget: number, least: number): number {
  let left = budget;
  const unserved = sizes.findIndex((size) => {
    left -= Math.min(size, least);
    return left < 0;
  });
  return unserved === -1 ? sizes.length : unserved;
}
