import { boundsProblem } from '@lathe/core/host';

/** One value inside the arguments of a call, or the next piece of a text. */
export interface ArgumentValue {
  /** A JSON Path such as `$.files[0].name`. */
  path: string;
  value: unknown;
}

type Container = Record<string, unknown> | unknown[];

/** A longer list is not an argument of any tool. */
const maxIndex = 10_000;
const maxCharacters = 4 * 1024 * 1024;

/** Builds arguments from single values, as Google sends them. Any doubt about a value rejects the call. */
export class ArgumentValues {
  readonly #root: Record<string, unknown> = {};
  #characters = 0;
  #problem: string | undefined;

  add(values: readonly ArgumentValue[]): void {
    for (const { path, value } of values) {
      const keys = parsePath(path);
      if (keys === undefined) this.#problem ??= `The argument path ${JSON.stringify(path.slice(0, 100))} is not valid.`;
      else this.#set(keys, value);
    }
  }

  finish(): { args: Record<string, unknown>; problem?: string } {
    const bounds = boundsProblem(this.#root);
    const problem =
      this.#problem ?? (bounds === null ? undefined : `The arguments cannot be used: the value ${bounds}.`);
    return problem === undefined ? { args: this.#root } : { args: {}, problem: `${problem} Nothing was run.` };
  }

  #set(keys: readonly (string | number)[], value: unknown): void {
    this.#characters += typeof value === 'string' ? value.length : 8;
    if (this.#characters > maxCharacters) this.#problem ??= 'The arguments are too long.';
    if (this.#problem !== undefined) return;
    let place: Container = this.#root;
    for (const [depth, key] of keys.slice(0, -1).entries()) {
      const child = childOf(place, key, typeof keys[depth + 1] === 'number');
      if (!child) return this.#reject(keys);
      place = child;
    }
    const last = keys.at(-1) ?? '';
    const known = read(place, last);
    const isMore = typeof known === 'string' && typeof value === 'string';
    if (known !== undefined && !isMore) return this.#reject(keys);
    if (!write(place, last, isMore ? known + value : value)) this.#reject(keys);
  }

  #reject(keys: readonly (string | number)[]): void {
    this.#problem ??= `The pieces of the argument ${keys.join('.').slice(0, 100)} do not fit together.`;
  }
}

/** The container at this key, made if it is missing; undefined when something else is there. */
function childOf(place: Container, key: string | number, isList: boolean): Container | undefined {
  const known = read(place, key);
  if (known !== undefined) return isContainer(known) ? known : undefined;
  const child: Container = isList ? [] : {};
  return write(place, key, child) ? child : undefined;
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

function read(place: Container, key: string | number): unknown {
  if (Array.isArray(place)) return typeof key === 'number' ? place[key] : undefined;
  return Object.hasOwn(place, key) ? place[key] : undefined;
}

/** False when the key does not fit the container. */
function write(place: Container, key: string | number, value: unknown): boolean {
  if (Array.isArray(place) !== (typeof key === 'number')) return false;
  if (typeof key === 'number' && (key > maxIndex || (Array.isArray(place) && key > place.length))) return false;
  Object.defineProperty(place, key, { value, writable: true, enumerable: true, configurable: true });
  return true;
}

const step = /\.([^.[\]'"]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** The keys of a path that names exactly one place, or undefined. */
function parsePath(path: string): (string | number)[] | undefined {
  if (!path.startsWith('$') || path.length > 1_000) return undefined;
  const keys: (string | number)[] = [];
  for (step.lastIndex = 1; step.lastIndex < path.length; ) {
    const match = step.exec(path);
    if (!match) return undefined;
    const [, plain, index, single, double] = match;
    keys.push(index === undefined ? (plain ?? (single ?? double ?? '').replace(/\\(.)/g, '$1')) : Number(index));
  }
  return keys.length > 0 ? keys : undefined;
}
