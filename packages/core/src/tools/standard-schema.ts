import type { XStatic } from 'typebox/schema';
import type { JsonSchema } from '../text/schema/json-schema.js';

/** A schema of zod, valibot, arktype or another library that follows Standard Schema and can give JSON Schema. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => Record<string, unknown> };
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of the parameters that a schema describes. */
export type ParamsOf<S> = S extends { '~standard': { types?: infer T } }
  ? NonNullable<T> extends { output: infer Output }
    ? Output
    : unknown
  : XStatic<S>;

/** The schema as JSON Schema. Throws when it cannot give that. */
export function toJsonSchema(schema: StandardSchema): JsonSchema {
  const { vendor, jsonSchema } = schema['~standard'];
  if (!jsonSchema) throw new Error(`This schema of ${vendor} cannot give JSON Schema: use a version that can`);
  const { $schema: _, ...json } = jsonSchema.input({ target: 'draft-2020-12' });
  return json;
}

/** The value as the library of the schema reads it, defaults filled in, or what is wrong with it. */
export function parseWith(schema: StandardSchema, value: unknown): { value: unknown } | { problem: string } {
  const result = schema['~standard'].validate(value);
  if ('then' in result) {
    // Nobody waits for it, so its failure must not end the program.
    Promise.resolve(result).catch(() => undefined);
    return { problem: 'its schema is asynchronous, which tools cannot use' };
  }
  return result.issues ? { problem: result.issues.map(describe).join('; ') } : { value: result.value };
}

/** Whether a schema is one of a library rather than JSON Schema. */
export function isStandard(schema: JsonSchema | StandardSchema): schema is StandardSchema {
  const given: unknown = schema;
  return ((typeof given === 'object' && given !== null) || typeof given === 'function') && '~standard' in given;
}

function describe({ message, path = [] }: StandardIssue): string {
  const place = path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
  return place === '' ? message : `${place}: ${message}`;
}
