import type { ToolRegistry } from '@lathe/core';

/** The names of tools for people: `ReadFile` becomes `Read File`. */
export function toolNames(tools: Pick<ToolRegistry, 'getTool'>): (name: string) => string {
  return (name) =>
    (tools.getTool(name)?.displayName ?? name)
      .replace(/ MCP Server\)$/, ')')
      .replaceAll(/(?<=[a-z])(?=[A-Z][a-z])/g, ' ');
}
