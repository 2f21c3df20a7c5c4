import { parseBoundedJson } from '../text/parse-json.js';
import { sanitizeDescription, sanitizeSchema } from '../text/sanitize-definition.js';
import type { DiscoveredDeclaration } from '../tools/discovered-tool.js';

/** What a discovery command printed, understood. */
export interface Declarations {
  tools: DiscoveredDeclaration[];
  /** Entries that are no declaration, with the reason. */
  skipped: { name: string; reason: string }[];
}

const maxTools = 500;

/**
 * Reads declarations in every shape that is in use: a list of them, wrapped as `function_declarations` or
 * `functionDeclarations`, or one of these alone. Throws when the text is none of them.
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
  if (!parsed.ok) throw new Error(`What the discovery command printed cannot be read as JSON: ${parsed.problem}`);
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
  if (typeof description !== 'string') return { name, reason: 'its description is not a text' };
  const schema = own(entry, 'parametersJsonSchema') ?? own(entry, 'parameters') ?? { type: 'object', properties: {} };
  if (!isRecord(schema)) return { name, reason: 'its parameter schema is not an object' };
  if (name.includes('__')) return { name, reason: '"__" in a name is kept for the tools of MCP servers' };
  const parameterSchema = sanitizeSchema(lowerTypes(schema));
  if (typeof parameterSchema === 'string') return { name, reason: parameterSchema };
  return { name, description: sanitizeDescription(description), parameterSchema };
}

const geminiTypes = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']);

/** Gemini's own schemas write types in capitals: `{"type": "OBJECT"}`. */
function lowerTypes(schema: Record<string, unknown>): unknown {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === 'type' && typeof value === 'string' && geminiTypes.has(value) ? value.toLowerCase() : value,
  );
  return JSON.parse(text);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
