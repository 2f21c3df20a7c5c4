import type { ToolRegistry } from '@lathe/core';

/** Shorter than the names that the tools have themselves. */
const shortNames: ReadonlyMap<string, string> = new Map([
  ['read_file', 'Read'],
  ['read_many_files', 'Read'],
  ['write_file', 'Write'],
  ['list_directory', 'List'],
  ['todo_write', 'Todos'],
  ['exit_plan_mode', 'Plan'],
]);

/** The names of tools for people: `WebFetch` becomes `Web Fetch`. */
export function toolNames(tools: Pick<ToolRegistry, 'getTool'>): (name: string) => string {
  return (name) =>
    shortNames.get(name) ??
    (tools.getTool(name)?.displayName ?? name)
      .replace(/ MCP Server\)$/, ')')
      .replaceAll(/(?<=[a-z])(?=[A-Z][a-z])/g, ' ');
}
