import { likelyNames } from '../text/closest-names.js';
import { matchesName } from './match-name.js';
import { ownNames, parseRule } from './rule.js';

/** A rule that matches no tool, and the name that its author probably meant. */
export interface UnknownTool {
  rule: string;
  meant?: string;
}

export interface KnownTools {
  tools: readonly string[];
  /** The aliases of all configured servers, connected or not. */
  servers: readonly string[];
}

/** Rules that match no tool, for example a misspelled name: a deny rule would protect nothing. */
export function unknownTools(rules: readonly string[], known: KnownTools): UnknownTool[] {
  const names = new Set([...known.tools, ...ownNames, ...known.servers]);
  return rules.flatMap((text) => {
    const rule = parseRule(text);
    if (typeof rule === 'string' || isKnown(rule.tool, names)) return [];
    const [meant] = likelyNames(rule.tool, names);
    return [{ rule: text, ...(meant !== undefined && { meant }) }];
  });
}

/** `server__tool` may be a tool of a server that is not connected. */
function isKnown(tool: string, names: ReadonlySet<string>): boolean {
  return tool.includes('__') || [...names].some((name) => matchesName(tool.toLowerCase(), name.toLowerCase()));
}
