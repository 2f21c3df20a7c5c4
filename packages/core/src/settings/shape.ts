import { isArray, type JsonValue } from './parse-jsonc.js';

/** The shape of a value: simple enough to check quickly at start-up, complete enough to generate JSON Schema. */
export type Shape =
  | { readonly is: 'boolean' }
  | { readonly is: 'integer'; readonly min: number; readonly max: number }
  | { readonly is: 'number'; readonly min: number }
  | {
      readonly is: 'string';
      readonly pattern?: RegExp;
      readonly expected?: string;
      readonly secret?: true;
      readonly mayBeBlank?: true;
    }
  | { readonly is: 'choice'; readonly of: readonly string[]; readonly also: Readonly<Record<string, string>> }
  | { readonly is: 'list'; readonly item: Shape; readonly allowSingle: boolean }
  | { readonly is: 'map'; readonly value: Shape; readonly names?: readonly string[]; readonly secret?: true }
  | {
      readonly is: 'object';
      readonly fields: Readonly<Record<string, Shape>>;
      readonly required: readonly string[];
      readonly orFalse?: true;
    };

/** A shape with the type of its values, for the compiler only. */
export type Typed<T> = Shape & { readonly typeOnly?: T };
export type TypeOf<S> = S extends { readonly typeOnly?: infer T } ? Exclude<T, undefined> : never;

export const boolean: Typed<boolean> = { is: 'boolean' };

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Typed<number> {
  return { is: 'integer', min, max };
}

export function number(min: number): Typed<number> {
  return { is: 'number', min };
}

/** A string that is not blank. */
export const string: Typed<string> = { is: 'string' };

/** A string that may be empty, such as an argument of a program. */
export const anyString: Typed<string> = { is: 'string', expected: 'a text', mayBeBlank: true };

/** A string that is never shown unless it is only a reference such as `$TOKEN`. */
export const secret: Typed<string> = { is: 'string', secret: true };

export function pattern(regex: RegExp, expected: string): Typed<string> {
  return { is: 'string', pattern: regex, expected };
}

/** One of a few words; `also` maps other spellings, including `true` and `false`, to one of them. */
export function choice<const T extends string>(of: readonly T[], also: Record<string, T> = {}): Typed<T> {
  return { is: 'choice', of, also };
}

/** A list; with `allowSingle`, a single value counts as a list of one. */
export function list<T>(item: Typed<T>, { allowSingle = false } = {}): Typed<readonly T[]> {
  return { is: 'list', item, allowSingle };
}

/** Values by name. With `names` others are reported and left out. */
export function map<T>(value: Typed<T>, names?: readonly string[]): Typed<Readonly<Record<string, T>>> {
  return { is: 'map', value, ...(names && { names }) };
}

/** Values by name, such as headers, that are never shown. */
export const secrets: Typed<Readonly<Record<string, string>>> = { is: 'map', value: string, secret: true };

type Fields = Readonly<Record<string, Shape>>;
type Optional<F extends Fields> = { readonly [K in keyof F]?: TypeOf<F[K]> };

export function object<F extends Fields, R extends keyof F & string = never>(
  fields: F,
  required: readonly R[] = [],
): Typed<Optional<F> & Required<Pick<Optional<F>, R>>> & { readonly is: 'object' } {
  return { is: 'object', fields, required };
}

/** An object, or `false` for none. */
export function orFalse<T>(shape: Typed<T> & { readonly is: 'object' }): Typed<T | false> {
  return { is: 'object', fields: shape.fields, required: shape.required, orFalse: true };
}

/** Describes the expected shape in a message. */
export function describeShape(shape: Shape): string {
  switch (shape.is) {
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `a whole number ${shape.max === Number.MAX_SAFE_INTEGER ? `of at least ${shape.min}` : `from ${shape.min} to ${shape.max}`}`;
    case 'number':
      return `a number of at least ${shape.min}`;
    case 'string':
      return shape.expected ?? 'a text that is not empty';
    case 'choice':
      return `one of ${shape.of.map((word) => `"${word}"`).join(', ')}`;
    case 'list':
      return `a list, each entry ${describeShape(shape.item)}`;
    case 'map':
      return `an object of names, each with ${describeShape(shape.value)}`;
    case 'object':
      return `an object with ${Object.keys(shape.fields).slice(0, 12).join(', ')}${shape.orFalse ? ', or false' : ''}`;
  }
}

const reference = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g;

/** The names that a text refers to as `$NAME` or `${NAME}`, each once. */
export function variablesIn(text: string): string[] {
  return [...new Set([...text.matchAll(reference)].map(([, plain, braced]) => plain ?? braced ?? ''))];
}

/** Replaces `$NAME` and `${NAME}` by the variable, if it exists. */
export function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): string {
  if (!text.includes('$')) return text;
  return text.replace(reference, (whole, plain?: string, braced?: string) => {
    const name = plain ?? braced ?? '';
    return Object.hasOwn(env, name) ? (env[name] ?? whole) : whole;
  });
}

/** A value that may be shown: secrets are hidden unless they are references, and URLs lose their user part. */
export function redact(shape: Shape, value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === 'string') return 'secret' in shape ? hide(value) : value.replace(/(\/\/)[^/@\s]+@/g, '$1***@');
  if (value === null || typeof value !== 'object') return value;
  if (isArray(value)) return value.map((item) => redact(shape.is === 'list' ? shape.item : shape, item) ?? null);
  const fieldOf = (name: string): Shape => {
    if (shape.is === 'object') return shape.fields[name] ?? secret;
    if (shape.is === 'map') return 'secret' in shape ? secret : shape.value;
    return secret;
  };
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, redact(fieldOf(name), child) ?? null]));
}

function hide(value: string): string {
  return /^(?:Bearer )?\$(?:\w+|\{\w+\})$/.test(value) ? value : '***';
}
