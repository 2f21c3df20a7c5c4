import { compileComponent } from '../text/glob/glob-component.js';

/** An exact name, a server's alias for all its tools, or a pattern such as `github__*`. `edit` covers every tool that writes. */
export function matchesName(pattern: string, name: string): boolean {
  if (pattern === name || (pattern === 'edit' && name === 'write_file')) return true;
  if (pattern.startsWith('mcp__') && name.startsWith(`${pattern.slice('mcp__'.length)}__`)) return true;
  return pattern.includes('*') ? compileComponent(pattern)(name) : name.startsWith(`${pattern}__`);
}
