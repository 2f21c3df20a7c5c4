/** The names in a text that separates them by spaces. */
export function nameSet(names: string): ReadonlySet<string> {
  return new Set(names.split(' '));
}

/** The entries of a map that has the same value for several names. */
export function forNames<Value>(names: string, value: Value): [name: string, value: Value][] {
  return names.split(' ').map((name) => [name, value]);
}
