import type { Shape, Typed } from './shape.js';

/**
 * How a later layer meets an earlier one.
 * - `replace`: the later value counts.
 * - `union`: both lists count, without repeats. `concat`: both, in order.
 * - `narrow`: a list of what is permitted; a workspace can only take entries away.
 * - `by-key`: entries of an object replace each other by name.
 */
export type MergeRule = 'replace' | 'union' | 'concat' | 'narrow' | 'by-key';

/**
 * What a file in the workspace may do: `free` once the folder is trusted; `tighten` at any time, and in no case loosen
 * (nobody loosens what the system file says either); `never` for what reaches beyond the workspace.
 */
export type WorkspacePower = 'free' | 'tighten' | 'never';

/** From strictest to loosest; `low` for numbers where less is stricter and −1 means no limit. */
export type Strictness = readonly (string | boolean)[] | 'low';

export interface Setting {
  readonly shape: Shape;
  readonly fallback: unknown;
  readonly description: string;
  /** Other spellings that are understood: Qwen Code's and the old flat one. */
  readonly also: readonly string[];
  readonly merge: MergeRule;
  readonly workspace: WorkspacePower;
  readonly strictness?: Strictness;
  /** What a value that cannot be understood counts as; without it, the setting is left as it was. */
  readonly strict?: string | boolean | readonly string[];
  /** Entries of a list that a workspace file may not add. */
  readonly notFromWorkspace?: RegExp;
  /** The environment variable that sets it. */
  readonly env?: string;
}

export type TypedSetting<T> = Setting & { readonly typeOnly?: { value: T } };

type Options = Partial<Omit<Setting, 'shape' | 'fallback' | 'description'>>;

/** One row of the table: shape, value when nobody sets it, one line for people, and what is not usual about it. */
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
