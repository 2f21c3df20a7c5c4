import { type AnyTool, type RegisteredTool, ToolRegistry } from '@lathe/core';
import { builtIn, canonicalName, matchesName } from '@lathe/core/host';
import { TaskTool } from '@lathe/core/tools';
import { ToolSearchTool } from '../loop/tool-search.js';
import type { SubagentDefinition } from './subagent-definition.js';

export interface SubagentToolOptions {
  mayDelegate: boolean;
  /** Take the place of the built-in tools of the same name: they remember what the subagent, not its parent, has seen. */
  own: readonly AnyTool[];
}

/**
 * What a subagent may call: those of its parent's tools that its definition wants. Never more than the parent has.
 * Leaving plan mode is for the agent that talks with the person, and the tool search belongs to one list of tools.
 */
export function subagentTools(
  parent: ToolRegistry,
  definition: Pick<SubagentDefinition, 'tools' | 'withoutTools'>,
  { mayDelegate, own }: SubagentToolOptions,
): ToolRegistry {
  const never = new Set(['exit_plan_mode', ToolSearchTool.toolName, ...(mayDelegate ? [] : [TaskTool.toolName])]);
  const granted = parent.entries().filter(({ tool: { name } }) => !never.has(name) && isWanted(name, definition));
  const registry = new ToolRegistry();
  for (const { tool } of granted.filter(({ source }) => source === builtIn))
    registry.registerTool(own.find(({ name }) => name === tool.name) ?? tool);
  for (const [source, entries] of bySource(granted))
    registry.replaceTools(
      source,
      entries.map(({ tool }) => tool),
    );
  return registry;
}

function isWanted(
  name: string,
  { tools, withoutTools = [] }: Pick<SubagentDefinition, 'tools' | 'withoutTools'>,
): boolean {
  const isGiven = tools === undefined || tools.some((wanted) => wanted === '*' || gives(canonicalName(wanted), name));
  return isGiven && !withoutTools.some((unwanted) => matchesName(canonicalName(unwanted), name));
}

/** In rules `edit` speaks of every tool that writes; here it gives no more than it says. */
function gives(wanted: string, name: string): boolean {
  return wanted === 'edit' ? name === 'edit' : matchesName(wanted, name);
}

function bySource(entries: readonly RegisteredTool[]): Map<string, RegisteredTool[]> {
  const groups = new Map<string, RegisteredTool[]>();
  for (const entry of entries) {
    if (entry.source === builtIn) continue;
    groups.set(entry.source, [...(groups.get(entry.source) ?? []), entry]);
  }
  return groups;
}
