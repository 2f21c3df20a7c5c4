/** No tool needs more; both limits keep recursive walks over parameters within the stack. */
const maxDepth = 100;
const maxValues = 100_000;

/** Why a value is too deep or too large to be processed, or `null`. Walks without recursion. */
export function boundsProblem(value: unknown): string | null {
  let level: unknown[] = [value];
  let count = 0;
  for (let depth = 0; level.length > 0; depth++) {
    count += level.length;
    if (count > maxValues) return `has more than ${maxValues} values`;
    if (depth > maxDepth) return `is nested more than ${maxDepth} levels deep`;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      const children = Array.isArray(item) ? item : Object.values(item);
      if (count + next.length + children.length > maxValues) return `has more than ${maxValues} values`;
      for (const child of children) next.push(child);
    }
    level = next;
  }
  return null;
}
