import { createHash } from 'node:crypto';

const maxName = 64;
const maxAlias = 24;

/**
 * The prefix of a server's tool names. It contains no `__`, does not begin or end with `_`, and is unique, so
 * `alias__tool` can be split in only one way and a rule for one server covers no other. A name that cannot be used as it
 * is gets a hash of itself as a suffix, so it is the same in every session.
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

/** The name of a server's tool for the model: the server's own name if every provider accepts it. */
export function toolName(alias: string, tool: string): string {
  const room = maxName - alias.length - 2;
  // In rules, `mcp__a__b` is what other agents write for `a__b`.
  const isClear = alias !== 'mcp' || !tool.includes('__');
  if (/^[A-Za-z0-9_-]+$/.test(tool) && tool.length <= room && isClear) return `${alias}__${tool}`;
  const kept = tool.replace(/[^A-Za-z0-9-]+/g, '_').slice(0, room - 7);
  return `${alias}__${kept}_${hashOf(tool)}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 6);
}
