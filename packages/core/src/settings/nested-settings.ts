import type { JsonValue } from './parse-jsonc.js';

interface Tree {
  [name: string]: JsonValue | Tree;
}

/** `tools.core` becomes `{ tools: { core } }`. Keys come from the table, never from a file. */
export function nest(values: ReadonlyMap<string, JsonValue>): Tree {
  const root: Tree = {};
  for (const [key, value] of values) {
    const names = key.split('.');
    const last = names.pop() ?? key;
    let group = root;
    for (const name of names) {
      const next = group[name] ?? {};
      group[name] = next;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a key is never also the beginning of another key
      group = next as Tree;
    }
    group[last] = value;
  }
  return root;
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
