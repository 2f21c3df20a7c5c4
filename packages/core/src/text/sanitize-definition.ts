import type { JsonSchema } from './schema/json-schema.js';
import { acceptSchema, schemaProblem } from './schema/schema-check.js';
import { mapSchemas } from './schema/schema-nodes.js';
import { hasHiddenText, visibleText } from './visible-text.js';

const maxDescription = 4_000;
const maxFieldText = 1_000;

/** Sanitizes the description of a tool from outside: makes invisible characters visible and limits the length. */
export function sanitizeDescription(text: string, limit = maxDescription): string {
  const visible = visibleText(text.slice(0, limit));
  return text.length > limit ? `${visible}…` : visible;
}

/**
 * Sanitizes the texts of a parameter schema from outside, or returns why it is rejected. Names and allowed values cannot
 * be changed, because the model must send them back, so invisible characters in them are an error.
 */
export function sanitizeSchema(schema: unknown): JsonSchema | string {
  const problem = schemaProblem(schema);
  if (problem !== null) return problem;
  const sanitized = mapSchemas(schema, (node) => ({
    ...node,
    ...sanitizeField(node, 'title'),
    ...sanitizeField(node, 'description'),
    ...sanitizeField(node, '$comment'),
  }));
  if (hasInvisibleCharacters(sanitized)) return 'its parameter schema contains invisible characters';
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- schemaProblem accepted it just above
  const result = sanitized as JsonSchema;
  acceptSchema(result);
  return result;
}

function sanitizeField(node: Readonly<Record<string, unknown>>, key: string): Record<string, string> {
  const value = node[key];
  return typeof value === 'string' ? { [key]: sanitizeDescription(value, maxFieldText) } : {};
}

function hasInvisibleCharacters(value: unknown): boolean {
  if (typeof value === 'string') return hasHiddenText(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, child]) => hasHiddenText(key) || hasInvisibleCharacters(child));
}
