import { Check, Compile, Errors, Meta, type XSchemaObject } from 'typebox/schema';
import { attempt } from '../../contract/errors.js';
import { explainMismatch, WorkLimitExceeded } from './explain-mismatch.js';
import { safePattern } from './safe-pattern.js';
import { isRecord, joinPath, mapSchemas, own, ownList, ownRecord, type SchemaNode } from './schema-nodes.js';

/** Any JSON Schema, draft-07 or 2020-12. Only this file depends on the validator. */
export type JsonSchema = XSchemaObject;

/** The meta-schemas a schema can be checked against, with `describeMismatch`. */
export const metaSchemas: Readonly<Record<'draft-07' | '2020-12', JsonSchema>> = {
  'draft-07': Meta['http://json-schema.org/draft-07/schema#'],
  '2020-12': Meta['https://json-schema.org/draft/2020-12/schema'],
};

const shownProblems = 5;

/** No tool needs more; both limits keep recursive walks over parameters within the stack. */
const maxDepth = 100;
const maxValues = 100_000;

/** Limits the `$ref`s that are followed, because recursive schemas can cause unbounded work. */
const maxReferences = 200_000;

/** Why `value` does not fit `schema`, in words a model can act on; `null` when it fits. Never throws. */
export function describeMismatch(schema: JsonSchema, value: unknown): string | null {
  try {
    const bounds = boundsProblem(value);
    if (bounds !== null) return `the parameters cannot be checked: the value ${bounds}`;
    const validator = validatorOf(schema);
    if (validator.fits(value)) return null;
    const explained = explainMismatch(schema, schema, value);
    return summary(explained.length > 0 ? explained : validator.errors(value));
  } catch (error) {
    if (error instanceof WorkLimitExceeded) return 'the parameters cannot be checked: the schema causes too much work';
    // If the validator cannot compile a schema, the call is rejected, never passed unchecked.
    return `the parameters cannot be checked: ${error instanceof Error ? error.message : 'unknown error'}`;
  }
}

/** True when `value` fits `schema`; false also when it cannot be checked. */
export function fitsSchema(schema: JsonSchema, value: unknown): boolean {
  return attempt(() => boundsProblem(value) === null && validatorOf(schema).fits(value)) ?? false;
}

function summary(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  const more = distinct.length - shownProblems;
  return distinct.slice(0, shownProblems).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

interface Validator {
  fits(value: unknown): boolean;
  errors(value: unknown): string[];
}

const validators = new WeakMap<object, Validator>();

function validatorOf(schema: JsonSchema): Validator {
  const known = validators.get(schema);
  if (known) return known;
  const created = createValidator(schema);
  validators.set(schema, created);
  return created;
}

function createValidator(schema: JsonSchema): Validator {
  let references = 0;
  const countReference = () => {
    if (++references > maxReferences) throw new WorkLimitExceeded();
    return true;
  };
  const prepared = mapSchemas(schema, (node) => prepare(node, countReference));
  if (!isRecord(prepared)) throw new TypeError('the schema is not an object');
  const check = compileCheck(prepared);
  return {
    fits(value) {
      references = 0;
      return check(value);
    },
    errors(value) {
      references = 0;
      return Errors(prepared, value)[1].map(({ instancePath, message }) => `${readable(instancePath)} ${message}`);
    },
  };
}

/** Compiled code is fastest, but a very wide schema compiles to an expression that is too long for the JavaScript parser. */
function compileCheck(schema: SchemaNode): (value: unknown) => boolean {
  const compiled = attempt(() => Compile(schema));
  return (value) => (compiled ? compiled.Check(value) : Check(schema, value));
}

/** Replaces `pattern` by a safe check, drops `format` (an annotation in 2020-12), and counts references. */
function prepare(given: SchemaNode, countReference: () => boolean): SchemaNode {
  const node = withSafeNames(given);
  const { pattern, format: _, '~refine': __, ...rest }: Record<string, unknown> = node;
  const refinements: { check: (value: unknown) => boolean; error: () => string }[] = [];
  if (typeof pattern === 'string') {
    const safe = safePattern(pattern);
    const check = (value: unknown) => typeof value !== 'string' || (typeof safe !== 'string' && safe.test(value));
    refinements.push({ check, error: () => `must match the pattern ${pattern}` });
  }
  const guarded: Record<string, unknown> = refinements.length > 0 ? { ...rest, '~refine': refinements } : rest;
  const reference = own(node, '$ref');
  if (reference === undefined) return guarded;
  // Counted before it is followed, because a failure inside would skip a count after it.
  const { $ref: ___, ...others } = guarded;
  const count = { '~refine': [{ check: countReference, error: () => '' }] };
  return { ...others, allOf: [...ownList(node, 'allOf'), count, { $ref: reference }] };
}

/** The validator itself matches property names, with JavaScript's engine: where that may hang, they are not checked. */
function withSafeNames(node: SchemaNode): SchemaNode {
  const isSafe = Object.keys(ownRecord(node, 'patternProperties')).every((source) => {
    const pattern = safePattern(source);
    return typeof pattern !== 'string' && pattern.isSafeAnywhere;
  });
  if (isSafe) return node;
  const { patternProperties: _, additionalProperties: __, unevaluatedProperties: ___, ...rest } = node;
  return rest;
}

function readable(pointer: string): string {
  const parts = pointer.split('/').slice(1);
  const path = parts.reduce((parent, part) => {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    return joinPath(parent, /^\d+$/.test(key) ? Number(key) : key);
  }, '');
  return path === '' ? 'the parameters' : path;
}

/** Why a value is too deep or too large to be processed, or `null`. Walks without recursion. */
export function boundsProblem(value: unknown): string | null {
  let level: unknown[] = [value];
  let count = 0;
  for (let depth = 0; level.length > 0; depth++) {
    count += level.length;
    if (count > maxValues) return `has more than ${maxValues} values`;
    if (depth > maxDepth) return `is nested more than ${maxDepth} levels deep`;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      const children = Array.isArray(item) ? item : Object.values(item);
      if (count + next.length + children.length > maxValues) return `has more than ${maxValues} values`;
      for (const child of children) next.push(child);
    }
    level = next;
  }
  return null;
}
