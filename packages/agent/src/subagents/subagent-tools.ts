import { type AnyTool, ToolRegistry } from '@lathe/core';
import { builtIn, canonicalName, matchesName } from '@lathe/core/host';
import { TaskTool } from '@lathe/core/tools';
import { ToolSearchTool } from '../loop/tool-search.js';
import type { SubagentDefinition } from './subagent-definition.js';
import { TaskControlTool } from './task-control.js';

export interface SubagentToolOptions {
  mayDelegate: boolean;
  /** Replace the built-in tools of the same name: they track what the subagent, not its parent, has seen. */
  own: readonly AnyTool[];
}

type Wanted = Pick<SubagentDefinition, 'tools' | 'withoutTools'>;

/**
 * The tools that a subagent may call: those of its parent that its definition asks for, never more than the parent has.
 * Only the main agent may leave plan mode, and a tool search belongs to one list of tools.
 */
export function subagentTools(
  parent: ToolRegistry,
  definition: Wanted,
  { mayDelegate, own }: SubagentToolOptions,
): ToolRegistry {
  const never = new Set([
    'exit_plan_mode',
    ToolSearchTool.toolName,
    ...(mayDelegate ? [] : [TaskTool.toolName, TaskControlTool.toolName]),
  ]);
  const granted = parent.entries().filter(({ tool: { name } }) => !never.has(name) && isWanted(name, definition));
  const registry = new ToolRegistry();
  for (const { tool } of granted.filter(({ source }) => source === builtIn))
    registry.registerTool(own.find(({ name }) => name === tool.name) ?? tool);
  for (const source of new Set(granted.map((entry) => entry.source))) {
    const tools = granted.flatMap((entry) => (entry.source === source ? [entry.tool] : []));
    if (source !== builtIn) registry.replaceTools(source, tools);
  }
  return registry;
}

function isWanted(name: string, { tools, withoutTools = [] }: Wanted): boolean {
  const isGiven = tools === undefined || tools.some((wanted) => wanted === '*' || gives(canonicalName(wanted), name));
  return isGiven && !withoutTools.some((unwanted) => matchesName(canonicalName(unwanted), name));
}

/** In rules `edit` means every tool that writes; here it means only the tool `edit`. */
function gives(wanted: string, name: string): boolean {
  return wanted === 'edit' ? name === 'edit' : matchesName(wanted, name);
}
