import Schema, { type XSchemaObject } from 'typebox/schema';

/** Any JSON Schema, draft-07 or 2020-12. The only file that knows which validator is underneath. */
export type JsonSchema = XSchemaObject;

/** Why `value` does not fit `schema`, in words a model can act on; `null` when it fits. */
export function describeMismatch(schema: JsonSchema, value: unknown): string | null {
  const [fits, errors] = Schema.Errors(schema, value);
  if (fits) return null;
  return errors.map((error) => `${error.instancePath || 'params'} ${error.message}`).join('; ');
}
