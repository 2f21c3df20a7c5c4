import type { Tool, ToolAnnotations } from '@modelcontextprotocol/server';
import type { AnyTool, ToolKind } from '../../tools/tools.js';

/** A tool in the format of the protocol. The schema is unchanged, because the scheduler checks calls against it. */
export function describeTool({ name, displayName, description, kind, parameterSchema }: AnyTool): Tool {
  return {
    name,
    title: displayName,
    description,
    inputSchema: { ...parameterSchema, type: 'object' },
    annotations: annotations[kind],
  };
}

const reads: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
const notes: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
const anything: ToolAnnotations = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };

const annotations: Record<ToolKind, ToolAnnotations> = {
  read: reads,
  search: reads,
  fetch: { readOnlyHint: true, openWorldHint: true },
  edit: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
  think: notes,
  execute: anything,
  agent: anything,
  other: anything,
};
