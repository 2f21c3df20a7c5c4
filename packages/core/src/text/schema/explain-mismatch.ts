import { likelyNames } from '../closest-names.js';
import { expectation, listNames, show } from './expectation.js';
import { safePattern } from './safe-pattern.js';
import { isRecord, joinPath, own, ownList, ownRecord, resolveReference, type SchemaNode } from './schema-nodes.js';

/** Thrown when a recursive schema causes too much work; the caller rejects the value. */
export class WorkLimitExceeded extends Error {}

const maxSteps = 300_000;

/**
 * What is wrong with `value`, one sentence per field: the field, the problem, the expected shape. Covers the keywords
 * that tool schemas use; an empty list does not prove that the value fits.
 */
export function explainMismatch(root: unknown, node: unknown, value: unknown, path = ''): string[] {
  const explanation = new Explanation(root);
  explanation.check(node, value, path);
  return explanation.problems;
}

class Explanation {
  readonly problems: string[] = [];
  readonly #root: unknown;
  readonly #budget: { steps: number };

  constructor(root: unknown, budget = { steps: 0 }) {
    this.#root = root;
    this.#budget = budget;
  }

  check(node: unknown, value: unknown, path: string): void {
    if (++this.#budget.steps > maxSteps) throw new WorkLimitExceeded();
    if (node === false) this.#add(path, 'is not allowed');
    if (!isRecord(node)) return;
    const reference = own(node, '$ref');
    if (reference !== undefined) this.check(resolveReference(this.#root, reference) ?? false, value, path);
    if (!fitsScalar(node, value)) {
      this.#add(path, `must be ${expectation(this.#root, node)}, got ${show(value)}`);
      return;
    }
    for (const part of ownList(node, 'allOf')) this.check(part, value, path);
    this.#checkUnion(node, value, path);
    if (Array.isArray(value)) this.#checkItems(node, value, path);
    else if (isRecord(value)) this.#checkProperties(node, value, path);
  }

  /** A value that resembles one branch is explained by that branch; otherwise the branches are listed. */
  #checkUnion(node: SchemaNode, value: unknown, path: string): void {
    for (const keyword of ['anyOf', 'oneOf']) {
      const branches = ownList(node, keyword);
      if (branches.length === 0) continue;
      const outcomes = branches.map((branch) => this.#outcome(branch, value, path));
      const fitting = outcomes.filter(({ problems }) => problems.length === 0).length;
      if (fitting === 1 || (fitting > 1 && keyword === 'anyOf')) continue;
      const near = outcomes.filter(({ isSameKind }) => isSameKind);
      if (fitting > 1) this.#add(path, `must fit exactly one of ${branches.length} shapes, but fits ${fitting}`);
      else if (near.length === 1) this.problems.push(...(near[0]?.problems ?? []));
      else this.#add(path, `must be ${expectation(this.#root, node)}, got ${show(value)}`);
    }
  }

  #outcome(branch: unknown, value: unknown, path: string) {
    const trial = new Explanation(this.#root, this.#budget);
    trial.check(branch, value, path);
    const target = isRecord(branch) && own(branch, '$ref') ? resolveReference(this.#root, branch['$ref']) : branch;
    const isSameKind = typeof value === 'object' && value !== null && isRecord(target) && fitsType(target, value);
    return { problems: trial.problems, isSameKind };
  }

  #checkItems(node: SchemaNode, value: readonly unknown[], path: string): void {
    const { tuple, rest } = itemSchemas(node);
    value.forEach((item, index) => {
      this.check(index < tuple.length ? tuple[index] : rest, item, joinPath(path, index));
    });
  }

  #checkProperties(node: SchemaNode, value: Record<string, unknown>, path: string): void {
    const properties = ownRecord(node, 'properties');
    const others = Object.keys(value).filter((key) => !Object.hasOwn(properties, key));
    // A misspelled name is most likely the missing one.
    const given = others.length > 0 ? ` (given: ${others.slice(0, 3).join(', ')})` : '';
    for (const key of ownList(node, 'required')) {
      if (typeof key !== 'string' || Object.hasOwn(value, key)) continue;
      const schema = own(properties, key);
      const shape = isRecord(schema) ? `: it must be ${expectation(this.#root, schema)}` : '';
      this.#add(joinPath(path, key), `is missing${shape}${given}`);
    }
    const additional = own(node, 'additionalProperties');
    for (const key of Object.keys(value)) {
      const patterns = patternSchemas(node, key);
      for (const schema of patterns) this.check(schema, value[key], joinPath(path, key));
      if (Object.hasOwn(properties, key)) this.check(properties[key], value[key], joinPath(path, key));
      else if (patterns.length > 0) continue;
      else if (additional === false) {
        // Only the first problems are shown, so the closest name of the others is not needed.
        const problem =
          this.problems.length > 20 ? 'is not a known parameter' : unknownName(key, Object.keys(properties));
        this.#add(joinPath(path, key), problem);
      } else this.check(additional, value[key], joinPath(path, key));
    }
  }

  #add(path: string, problem: string): void {
    this.problems.push(`${path === '' ? 'the parameters' : path} ${problem}`);
  }
}

/** The schemas of a list's items: by position, then for the rest. Draft-07 writes the tuple under `items`. */
export function itemSchemas(node: SchemaNode): { tuple: readonly unknown[]; rest: unknown } {
  const items = own(node, 'items');
  if (Array.isArray(items)) return { tuple: items, rest: own(node, 'additionalItems') };
  return { tuple: ownList(node, 'prefixItems'), rest: items };
}

/** The types a schema names, directly or through the values it lists; `null` when it leaves the type open. */
export function typesOf(node: SchemaNode): string[] | null {
  const type = own(node, 'type');
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((name) => typeof name === 'string');
  const listed = Object.hasOwn(node, 'const') ? [node['const']] : own(node, 'enum');
  return Array.isArray(listed) ? listed.map(typeName) : null;
}

export function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

export function fitsType(node: SchemaNode, value: unknown): boolean {
  const types = typesOf(node);
  if (types === null || types.includes(typeName(value))) return true;
  return types.includes('integer') && Number.isInteger(value);
}

/** The schemas in `patternProperties` whose pattern matches a name. */
export function patternSchemas(node: SchemaNode, key: string): unknown[] {
  return Object.entries(ownRecord(node, 'patternProperties'))
    .filter(([source]) => matches(source, key))
    .map(([, schema]) => schema);
}

function matches(source: unknown, text: string): boolean {
  const pattern = safePattern(String(source));
  return typeof pattern !== 'string' && pattern.test(text);
}

/** Checks everything about a value except its children. */
function fitsScalar(node: SchemaNode, value: unknown): boolean {
  if (!fitsType(node, value) || !fitsListed(node, value)) return false;
  if (typeof value === 'number') return fitsNumber(node, value);
  if (typeof value === 'string') return fitsString(node, value);
  if (!Array.isArray(value)) return true;
  return value.length >= limit(node, 'minItems', 0) && value.length <= limit(node, 'maxItems');
}

function fitsListed(node: SchemaNode, value: unknown): boolean {
  const listed = Object.hasOwn(node, 'const') ? [node['const']] : own(node, 'enum');
  if (!Array.isArray(listed) || (typeof value === 'object' && value !== null)) return true;
  return listed.includes(value);
}

function fitsNumber(node: SchemaNode, value: number): boolean {
  if (value < limit(node, 'minimum', Number.NEGATIVE_INFINITY) || value > limit(node, 'maximum')) return false;
  const step = own(node, 'multipleOf');
  if (step === 1 && !Number.isInteger(value)) return false;
  return value > limit(node, 'exclusiveMinimum', Number.NEGATIVE_INFINITY) && value < limit(node, 'exclusiveMaximum');
}

function fitsString(node: SchemaNode, value: string): boolean {
  const pattern = own(node, 'pattern');
  if (typeof pattern === 'string' && !matches(pattern, value)) return false;
  if (value.length < limit(node, 'minLength', 0)) return false;
  // A character outside the basic plane has two code units; only a string near the limit needs the exact count.
  return value.length <= limit(node, 'maxLength') || Array.from(value).length <= limit(node, 'maxLength');
}

function limit(node: SchemaNode, key: string, fallback = Number.POSITIVE_INFINITY): number {
  const value = own(node, key);
  return typeof value === 'number' ? value : fallback;
}

function unknownName(key: string, known: readonly string[]): string {
  const [closest] = likelyNames(key, known);
  if (closest !== undefined) return `is not a known parameter; did you mean ${closest}?`;
  return known.length === 0
    ? 'is not allowed: no parameters are expected here'
    : `is not a known parameter; known: ${listNames(known)}`;
}
