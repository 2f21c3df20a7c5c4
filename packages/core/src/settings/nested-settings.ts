import type { JsonValue } from './parse-jsonc.js';

interface Tree {
  [name: string]: JsonValue | Tree;
}

/**
 * `tools.core` becomes `{ tools: { core } }`. Every group of `keys` exists, even if none of its settings has a
 * value. Keys come from the table, never from a file.
 */
export function nest(values: ReadonlyMap<string, JsonValue>, keys: Iterable<string> = []): Tree {
  const root: Tree = {};
  for (const key of keys) groupOf(root, key);
  for (const [key, value] of values) groupOf(root, key)[lastName(key)] = value;
  return root;
}

const lastName = (key: string): string => key.slice(key.lastIndexOf('.') + 1);

function groupOf(root: Tree, key: string): Tree {
  let group = root;
  for (const name of key.split('.').slice(0, -1)) {
    const next = group[name] ?? {};
    group[name] = next;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a key is never also the beginning of another key
    group = next as Tree;
  }
  return group;
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
