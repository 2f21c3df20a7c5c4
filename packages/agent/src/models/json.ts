/** What a server sent is unknown until checked: each of these returns a value of its type, empty if there is none. */
export type JsonObject = { readonly [key: string]: unknown };

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of anything that can have some: objects of a class and functions as well. */
export function fieldsOf(value: unknown): JsonObject {
  const hasFields = typeof value === 'function' || (typeof value === 'object' && value !== null);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- their types stay unknown
  return hasFields ? (value as unknown as JsonObject) : {};
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asString(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A number of tokens: a whole number from 0, or undefined. */
export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined;
}

/** The value of a JSON text, or undefined when it is not valid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
