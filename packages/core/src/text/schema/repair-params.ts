import { attempt } from '../../contract/errors.js';
import { withoutCaseStyle } from '../closest-names.js';
import { show } from './expectation.js';
import { explainMismatch, fitsType, itemSchemas, patternSchemas, typeName, typesOf } from './explain-mismatch.js';
import { boundsProblem, fitsSchema, type JsonSchema } from './json-schema.js';
import {
  isRecord,
  joinPath,
  own,
  ownList,
  ownRecord,
  quote,
  resolveReference,
  type SchemaNode,
} from './schema-nodes.js';

export interface Repaired {
  value: unknown;
  /** One sentence per change, for the user and the model. */
  repairs: string[];
}

/** Other names that models use for a parameter, by its declared name. */
export type ParameterAliases = Readonly<Record<string, readonly string[]>>;

const shownRepairs = 20;
const maxSteps = 20_000;

/**
 * Repairs parameters before they are checked: `"5"` for a number, JSON in a string, one value for a list, an alias,
 * a missing required parameter that has a default.
 * Does not change values that fit or are ambiguous. Never changes its input.
 */
export function repairParams(schema: JsonSchema, value: unknown, aliases: ParameterAliases = {}): Repaired {
  if (fitsSchema(schema, value) || boundsProblem(value) !== null) return { value, repairs: [] };
  try {
    const repair = new Repair(schema, aliases);
    const repaired = repair.node(schema, value, '');
    if (boundsProblem(repaired) !== null) return { value, repairs: [] };
    const more = repair.repairs.length - shownRepairs;
    const shown = repair.repairs.slice(0, shownRepairs);
    return { value: repaired, repairs: more > 0 ? [...shown, `and ${more} more repairs`] : shown };
  } catch {
    // Too expensive or too deep to repair: the check that follows reports the problem of the original.
    return { value, repairs: [] };
  }
}

class Repair {
  readonly repairs: string[] = [];
  readonly #root: JsonSchema;
  readonly #aliases: ParameterAliases;
  readonly #budget: { steps: number };

  constructor(root: JsonSchema, aliases: ParameterAliases, budget = { steps: 0 }) {
    this.#root = root;
    this.#aliases = aliases;
    this.#budget = budget;
  }

  node(node: unknown, value: unknown, path: string): unknown {
    if (++this.#budget.steps > maxSteps) throw new RangeError('Too many steps');
    if (!isRecord(node) || this.#fits(node, value)) return value;
    const reference = own(node, '$ref');
    let result = reference === undefined ? value : this.node(resolveReference(this.#root, reference), value, path);
    for (const part of ownList(node, 'allOf')) result = this.node(part, result, path);
    result = this.#union(node, result, path);
    if (!fitsType(node, result)) result = this.#retyped(node, result, path);
    if (!fitsType(node, result)) return result;
    if (Array.isArray(result)) return this.#items(node, result, path);
    return isRecord(result) ? this.#properties(node, result, path) : result;
  }

  #fits(node: unknown, value: unknown): boolean {
    return explainMismatch(this.#root, node, value).length === 0;
  }

  /** The interpretation with the fewest repairs wins; if two are equally good, nothing is changed. */
  #union(node: SchemaNode, value: unknown, path: string): unknown {
    const branches = [...ownList(node, 'anyOf'), ...ownList(node, 'oneOf')];
    if (branches.length === 0 || branches.some((branch) => this.#fits(branch, value))) return value;
    const readings = branches.flatMap((branch) => {
      const trial = new Repair(this.#root, this.#aliases, this.#budget);
      const result = trial.node(branch, value, path);
      return this.#fits(branch, result) ? [{ result, repairs: trial.repairs }] : [];
    });
    const fewest = Math.min(...readings.map(({ repairs }) => repairs.length));
    const nearest = readings.filter(({ repairs }) => repairs.length === fewest);
    const distinct = new Set(nearest.map(({ result }) => JSON.stringify(result)));
    if (distinct.size !== 1 || nearest[0] === undefined) return value;
    this.repairs.push(...nearest[0].repairs);
    return nearest[0].result;
  }

  /** The value converted to a type of the schema, if only one conversion is possible. */
  #retyped(node: SchemaNode, value: unknown, path: string): unknown {
    const types = typesOf(node) ?? [];
    const read = typeof value === 'string' ? readText(value, types) : undefined;
    if (read !== undefined) {
      this.#note(path, `${show(value)} read as ${read.as}`);
      return read.value;
    }
    const looksLikeJson = typeof value === 'string' && /^\s*[[{]/.test(value);
    if (path === '' || value === null || looksLikeJson || !types.includes('array')) return value;
    const trial = new Repair(this.#root, this.#aliases, this.#budget);
    const list = trial.node(node, [value], path);
    if (!this.#fits(node, list)) return value;
    this.#note(path, 'a single value read as a list of one');
    this.repairs.push(...trial.repairs);
    return list;
  }

  #items(node: SchemaNode, value: readonly unknown[], path: string): unknown {
    const { tuple, rest } = itemSchemas(node);
    return value.map((item, index) =>
      this.node(index < tuple.length ? tuple[index] : rest, item, joinPath(path, index)),
    );
  }

  #properties(node: SchemaNode, value: Record<string, unknown>, path: string): unknown {
    const properties = ownRecord(node, 'properties');
    const isUnwantedNull = (name: string, item: unknown) =>
      item === null &&
      Object.hasOwn(properties, name) &&
      !ownList(node, 'required').includes(name) &&
      !this.#fits(properties[name], null);
    const omit = (name: string, item: unknown) => {
      if (!isUnwantedNull(name, item)) return false;
      this.#note(joinPath(path, name), 'null left out');
      return true;
    };
    // Removes nulls first: a parameter with the value null may still come under its alias.
    const given = Object.entries(value).filter(([key, item]) => !omit(key, item));
    const names = this.#properNames(node, Object.fromEntries(given), path);
    const entries = given.flatMap(([key, item]): [string, unknown][] => {
      const name = names.get(key) ?? key;
      if (name !== key && omit(name, item)) return [];
      const schema = Object.hasOwn(properties, name) ? properties[name] : own(node, 'additionalProperties');
      return [[name, this.node(schema, item, joinPath(path, name))]];
    });
    // Defines own properties whatever their names are, so `__proto__` stays plain data.
    return Object.fromEntries([...entries, ...this.#defaults(node, new Set(entries.map(([name]) => name)), path)]);
  }

  /** Required properties that are missing and have a default. */
  #defaults(node: SchemaNode, given: ReadonlySet<string>, path: string): [string, unknown][] {
    const properties = ownRecord(node, 'properties');
    return ownList(node, 'required').flatMap((name): [string, unknown][] => {
      if (typeof name !== 'string' || given.has(name) || !Object.hasOwn(properties, name)) return [];
      const schema = properties[name];
      const value = isRecord(schema) ? structuredClone(own(schema, 'default')) : undefined;
      if (value === undefined || !this.#fits(schema, value)) return [];
      this.#note(joinPath(path, name), `missing, so its default ${show(value)} is used`);
      return [[name, value]];
    });
  }

  /** Maps keys of `value` to missing declared properties: only if there is exactly one candidate, and the key fits no other. */
  #properNames(node: SchemaNode, value: Record<string, unknown>, path: string): Map<string, string> {
    const properties = ownRecord(node, 'properties');
    const isClosed = own(node, 'additionalProperties') === false;
    const unknown = Object.keys(value).filter(
      (key) => !Object.hasOwn(properties, key) && patternSchemas(node, key).length === 0,
    );
    const wanted = Object.keys(properties).filter(
      (name) => !Object.hasOwn(value, name) && (isClosed || ownList(node, 'required').includes(name)),
    );
    const standsFor = (key: string, name: string) =>
      withoutCaseStyle(key) === withoutCaseStyle(name) || (path === '' && ownList(this.#aliases, name).includes(key));
    const names = new Map<string, string>();
    for (const name of wanted) {
      const [key, second] = unknown.filter((candidate) => standsFor(candidate, name));
      if (key === undefined || second !== undefined) continue;
      if (Object.keys(properties).some((other) => other !== name && standsFor(key, other))) continue;
      names.set(key, name);
      this.repairs.push(`${quote(joinPath(path, key))} read as ${quote(joinPath(path, name))}`);
    }
    return names;
  }

  #note(path: string, change: string): void {
    this.repairs.push(`${path === '' ? 'the parameters' : quote(path)}: ${change}`);
  }
}

/** The value of a text where a string is not accepted, if it is unambiguous. */
function readText(text: string, types: readonly string[]): { value: unknown; as: string } | undefined {
  const number = readNumber(text);
  const wantsNumber = types.includes('number') || (types.includes('integer') && Number.isInteger(number));
  if (number !== undefined && wantsNumber) return { value: number, as: `the number ${number}` };
  if (types.includes('boolean') && /^(?:true|True|TRUE|false|False|FALSE)$/.test(text)) {
    const value = text.toLowerCase() === 'true';
    return { value, as: String(value) };
  }
  if (!/^\s*[[{]/.test(text)) return undefined;
  const value = readJson(text);
  const type = typeName(value);
  if (value === undefined || !types.includes(type)) return undefined;
  return { value, as: type === 'array' ? 'a list' : 'an object' };
}

/** Canonical decimal notation only: `007`, `1e3`, `5.0` and ` 5` may be meant as text. */
function readNumber(text: string): number | undefined {
  if (!/^-?\d{1,17}(?:\.\d{1,17})?$/.test(text)) return undefined;
  const number = Number(text);
  const isExact = String(number) === text && (!Number.isInteger(number) || Number.isSafeInteger(number));
  return isExact ? number : undefined;
}

function readJson(text: string): unknown {
  const value: unknown = attempt(() => JSON.parse(text));
  return boundsProblem(value) === null ? value : undefined;
}
