import { createHash } from 'node:crypto';

const maxName = 64;
const maxAlias = 24;

/**
 * The part of a tool's name that stands for its server. It never holds `__`, never begins or ends with `_`, and is
 * nobody else's: `alias__tool` can be taken apart in one way only, and a rule for one server covers no other. A name
 * that cannot be used as it is gets a hash of itself, so that it stays the same from one session to the next.
 */
export function aliasOf(server: string, reserved: ReadonlySet<string> = new Set()): string {
  const isUsable = /^[A-Za-z][A-Za-z0-9_-]*$/.test(server) && !server.includes('__') && !server.endsWith('_');
  if (isUsable && server.length <= maxAlias && !reserved.has(server)) return server;
  const kept = server
    .replace(/[^A-Za-z0-9-]+/g, '_')
    .replace(/^[^A-Za-z]+/, '')
    .slice(0, maxAlias - 7)
    .replace(/_+$/, '');
  return `${kept || 'server'}_${hashOf(server)}`;
}

/** What the model calls a server's tool: the server's own name for it wherever every provider accepts that. */
export function toolName(alias: string, tool: string): string {
  const room = maxName - alias.length - 2;
  // In rules, `mcp__a__b` is another agent's way to write `a__b`.
  const isClear = alias !== 'mcp' || !tool.includes('__');
  if (/^[A-Za-z0-9_-]+$/.test(tool) && tool.length <= room && isClear) return `${alias}__${tool}`;
  const kept = tool.replace(/[^A-Za-z0-9-]+/g, '_').slice(0, room - 7);
  return `${alias}__${kept}_${hashOf(tool)}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 6);
}
