import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client, Tool } from '@modelcontextprotocol/client';
import { definitionHash } from '../../policy/consent.js';
import type { ToolDefinition } from '../../policy/definition-pins.js';
import { sanitizeDescription, sanitizeSchema } from '../../text/sanitize-definition.js';
import type { ListedTool } from '../../tools/mcp-tool.js';
import { listPages } from './list-pages.js';
import type { ServerDefinition } from './server-definition.js';

/** A listed tool and the definition that the server sent. */
export interface ServerTool {
  listed: ListedTool;
  sent: Tool;
  /** The part that the user approves. */
  definition: ToolDefinition;
}

export interface ServerTools {
  /** By the server's name for the tool. */
  tools: Map<string, ServerTool>;
  rejections: { name: string; reason: string }[];
}

const maxTools = 500;

/** Fetches the tools of a server and keeps those that are valid and selected. */
export async function listTools(
  client: Client,
  definition: ServerDefinition,
  options: { signal: AbortSignal; timeout: number },
): Promise<ServerTools> {
  if (client.getServerCapabilities()?.tools === undefined) return { tools: new Map(), rejections: [] };
  const { items, warning } = await listPages<Tool>(async (cursor) => {
    const { tools, nextCursor } = await client.listTools({ cursor: cursor ?? '' }, options);
    return { items: tools, nextCursor };
  });
  const result = await readTools(items, definition);
  if (warning !== undefined) result.rejections.push({ name: '', reason: warning });
  return result;
}

/** Those of the tools that a server sent that are valid and selected. */
export async function readTools(
  items: readonly Tool[],
  { include, exclude }: Pick<ServerDefinition, 'include' | 'exclude'>,
): Promise<ServerTools> {
  const result: ServerTools = { tools: new Map(), rejections: [] };
  if (items.length > maxTools)
    result.rejections.push({ name: '', reason: `${items.length - maxTools} more than ${maxTools} tools` });
  for (const [index, sent] of items.slice(0, maxTools).entries()) {
    // Checking schemas takes time, so yield now and then.
    if (index % 50 === 49) await nextTurn();
    if (exclude.includes(sent.name) || (include && !include.includes(sent.name))) continue;
    const reason = result.tools.has(sent.name) ? 'the server lists it twice' : undefined;
    const tool = reason ?? readTool(sent);
    if (typeof tool === 'string') result.rejections.push({ name: sanitizeDescription(sent.name, 100), reason: tool });
    else result.tools.set(sent.name, tool);
  }
  return result;
}

function readTool(sent: Tool): ServerTool | string {
  const { name, title, description = '', inputSchema, outputSchema, annotations } = sent;
  if (name === '' || name.length > 1_000) return 'its name is empty or too long';
  const parameterSchema = sanitizeSchema(inputSchema);
  if (typeof parameterSchema === 'string') return parameterSchema;
  const definition = { title, description, inputSchema, outputSchema, annotations };
  return {
    sent,
    definition,
    listed: {
      name,
      title: sanitizeDescription(title ?? annotations?.title ?? name, 100),
      description: sanitizeDescription(description),
      parameterSchema,
      hints: { isReadOnly: annotations?.readOnlyHint === true, isDestructive: annotations?.destructiveHint === true },
      hash: definitionHash(definition),
    },
  };
}
