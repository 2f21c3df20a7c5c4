import { type AgentLathe } from '@lathe/agent';
import type { PartUnion } from '@lathe/core';

/** `@server:uri` at the beginning of a word. */
const mention = /(?:^|(?<=\s))@([^\s:@]+):(\S+)/g;

/** What a prompt is given along, and what could not be had. */
export interface MentionedResources {
  parts: PartUnion[];
  problems: string[];
}

/** The resources that a text mentions as `@server:uri`, read from the servers that have these names. */
export async function mentionedResources(
  text: string,
  lathe: AgentLathe,
  signal: AbortSignal,
): Promise<MentionedResources> {
  const found: MentionedResources = { parts: [], problems: [] };
  const wanted = new Set([...text.matchAll(mention)].map(([, server = '', uri = '']) => `${server}:${trimmed(uri)}`));
  for (const name of wanted) {
    const [server, uri] = splitAt(name, name.indexOf(':'));
    const source = lathe.sources.servers.find(({ client }) => client.serverName === server);
    if (!source) continue;
    try {
      const parts = await source.readResource(uri, signal);
      found.parts.push(`\n\nContent of the resource ${uri} of the MCP server ${server}:\n`, ...parts);
    } catch (error) {
      signal.throwIfAborted();
      found.problems.push(`@${name} was not read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return found;
}

/** The end of a sentence is no part of an address. */
function trimmed(uri: string): string {
  return uri.replace(/[.,;!?)\]}]+$/, '');
}

function splitAt(text: string, index: number): [string, string] {
  return [text.slice(0, index), text.slice(index + 1)];
}
