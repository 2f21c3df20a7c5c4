import { parseBoundedJson } from '../text/parse-json.js';
import { sanitizeDescription, sanitizeSchema } from '../text/sanitize-definition.js';
import { isRecord, own } from '../text/schema/schema-nodes.js';
import type { DiscoveredDeclaration } from '../tools/discovered-tool.js';

/** The parsed output of a discovery command. */
export interface Declarations {
  tools: DiscoveredDeclaration[];
  /** Entries that are not valid declarations, with the reason. */
  skipped: { name: string; reason: string }[];
}

const maxTools = 500;

/**
 * Parses declarations in every common format: a list, wrapped as `function_declarations` or `functionDeclarations`, or a
 * single declaration. Throws when the text is none of these.
 */
export function readDeclarations(text: string): Declarations {
  const value = parse(text);
  const entries = (Array.isArray(value) ? value : [value]).flatMap(unwrap);
  const result: Declarations = { tools: [], skipped: [] };
  for (const entry of entries.slice(0, maxTools)) {
    const declaration = readOne(entry);
    if ('reason' in declaration) result.skipped.push(declaration);
    else result.tools.push(declaration);
  }
  if (entries.length > maxTools)
    result.skipped.push({ name: '', reason: `${entries.length - maxTools} more than ${maxTools} tools` });
  return result;
}

function parse(text: string): unknown {
  const parsed = parseBoundedJson(text.replace(/^\uFEFF/, ''));
  if (!parsed.ok)
    throw new Error(
      `The output of the discovery command is not valid JSON: ${sanitizeDescription(parsed.problem, 500)}`,
    );
  if (typeof parsed.value === 'object' && parsed.value !== null) return parsed.value;
  throw new Error('The discovery command must print a JSON array of function declarations.');
}

function unwrap(entry: unknown): unknown[] {
  if (!isRecord(entry)) return [entry];
  const wrapped = own(entry, 'function_declarations') ?? own(entry, 'functionDeclarations');
  return Array.isArray(wrapped) ? wrapped : [entry];
}

function readOne(entry: unknown): DiscoveredDeclaration | { name: string; reason: string } {
  if (!isRecord(entry)) return { name: '', reason: 'is not an object' };
  const name = own(entry, 'name');
  if (typeof name !== 'string' || name === '') return { name: '', reason: 'has no name' };
  const description = own(entry, 'description') ?? '';
  if (typeof description !== 'string') return { name, reason: 'its description is not a string' };
  const schema = own(entry, 'parametersJsonSchema') ?? own(entry, 'parameters') ?? { type: 'object', properties: {} };
  if (!isRecord(schema)) return { name, reason: 'its parameter schema is not an object' };
  if (name.includes('__')) return { name, reason: '"__" in a name is reserved for the tools of MCP servers' };
  const parameterSchema = sanitizeSchema(lowerTypes(schema));
  if (typeof parameterSchema === 'string') return { name, reason: parameterSchema };
  return { name, description: sanitizeDescription(description), parameterSchema };
}

const geminiTypes = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']);

/** Gemini writes types in capitals: `{"type": "OBJECT"}`. */
function lowerTypes(schema: Record<string, unknown>): unknown {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === 'type' && typeof value === 'string' && geminiTypes.has(value) ? value.toLowerCase() : value,
  );
  return JSON.parse(text);
}
