import type { JsonSchema } from './json-schema.js';
import { acceptSchema, schemaProblem } from './schema-check.js';
import { mapSchemas } from './schema-nodes.js';
import { hasHiddenText, visibleText } from './visible-text.js';

const maxDescription = 4_000;
const maxFieldText = 1_000;

/** A tool's description from outside: every character can be seen, and there are not too many. */
export function cleanDescription(text: string, limit = maxDescription): string {
  const visible = visibleText(text.slice(0, limit));
  return text.length > limit ? `${visible}…` : visible;
}

/**
 * A parameter schema from outside with its texts made visible and short, or why it is refused. What the model must
 * send back unchanged, such as names and allowed values, cannot be rewritten and so must be clean already.
 */
export function cleanSchema(schema: unknown): JsonSchema | string {
  const problem = schemaProblem(schema);
  if (problem !== null) return problem;
  const cleaned = mapSchemas(schema, (node) => ({
    ...node,
    ...cleanField(node, 'title'),
    ...cleanField(node, 'description'),
    ...cleanField(node, '$comment'),
  }));
  if (hasHiddenParts(cleaned)) return 'its parameter schema contains invisible characters';
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- schemaProblem accepted it just above
  const result = cleaned as JsonSchema;
  acceptSchema(result);
  return result;
}

function cleanField(node: Readonly<Record<string, unknown>>, key: string): Record<string, string> {
  const value = node[key];
  return typeof value === 'string' ? { [key]: cleanDescription(value, maxFieldText) } : {};
}

function hasHiddenParts(value: unknown): boolean {
  if (typeof value === 'string') return hasHiddenText(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, child]) => hasHiddenText(key) || hasHiddenParts(child));
}
