import type { Shape, Typed } from './shape.js';

/**
 * How a later layer is merged with an earlier one.
 * - `replace`: the later value counts.
 * - `union`: both lists count, without repeats. `concat`: both, in order.
 * - `narrow`: a list of what is permitted; a workspace can only take entries away.
 * - `by-key`: entries of an object replace each other by name.
 */
export type MergeRule = 'replace' | 'union' | 'concat' | 'narrow' | 'by-key';

/**
 * What a file in the workspace may do: `free` once the folder is trusted; `tighten` at any time, but never loosen (no
 * layer loosens the system file either); `never` for settings that affect more than the workspace.
 */
export type WorkspacePower = 'free' | 'tighten' | 'never';

/** From strictest to loosest; `low` for numbers of which a lower one is stricter and −1 means no limit. */
export type Strictness = readonly (string | boolean)[] | 'low';

export interface Setting {
  readonly shape: Shape;
  readonly fallback: unknown;
  readonly description: string;
  /** Other accepted spellings: Qwen Code's and the old flat one. */
  readonly also: readonly string[];
  readonly merge: MergeRule;
  readonly workspace: WorkspacePower;
  readonly strictness?: Strictness;
  /** The value that replaces a wrong one; without it, a wrong value is ignored. */
  readonly strict?: string | boolean | readonly string[];
  /** Entries of a list that a workspace file may not add. */
  readonly notFromWorkspace?: RegExp;
  /** The environment variable that sets it. */
  readonly env?: string;
}

export type TypedSetting<T> = Setting & { readonly typeOnly?: { value: T } };

type Options = Partial<Omit<Setting, 'shape' | 'fallback' | 'description'>>;

/** One row of the table: shape, default value, description, and options that differ from the defaults. */
export function setting<T, const D extends T | undefined>(
  shape: Typed<T>,
  fallback: D,
  description: string,
  options: Options = {},
): TypedSetting<D extends undefined ? T | undefined : T> {
  return { also: [], merge: 'replace', workspace: 'free', ...options, shape, fallback, description };
}

type ValueOf<S> = S extends { readonly typeOnly?: { value: infer T } } ? T : never;

type Below<Table, Group extends string> = {
  [Key in keyof Table as Key extends `${Group}.${infer Rest}` ? Rest : never]: Table[Key];
};

/** `{ 'tools.core': TypedSetting<T> }` becomes `{ tools: { core: T } }`. */
export type Nested<Table> = {
  readonly [Key in keyof Table as Key extends `${infer Group}.${string}`
    ? Group
    : Key]: Key extends `${infer Group}.${string}` ? Nested<Below<Table, Group>> : ValueOf<Table[Key]>;
};
