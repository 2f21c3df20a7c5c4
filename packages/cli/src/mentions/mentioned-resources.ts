import { type AgentLathe } from '@lathe/agent';
import type { PartUnion } from '@lathe/core';
import { errorMessage } from '../command-line/error-message.js';

/** `@server:uri` at the start of a word. */
const mention = /(?:^|(?<=\s))@([^\s:@]+):(\S+)/g;

/** The contents to add to a prompt, and a message for each resource that could not be read. */
export interface MentionedResources {
  parts: PartUnion[];
  problems: string[];
}

/** Reads the resources that a text mentions as `@server:uri`. */
export async function mentionedResources(
  text: string,
  { sources, exposure }: Pick<AgentLathe, 'sources' | 'exposure'>,
  signal: AbortSignal,
): Promise<MentionedResources> {
  const found: MentionedResources = { parts: [], problems: [] };
  const wanted = new Set(
    [...text.matchAll(mention)].map(([, server = '', uri = '']) => `${server}:${withoutPunctuation(uri)}`),
  );
  for (const name of wanted) {
    const [server, uri] = splitAt(name, name.indexOf(':'));
    const source = sources.servers.find(({ client }) => client.serverName === server);
    if (!source) continue;
    try {
      const parts = await source.readResource(uri, signal);
      if (source.brings) exposure?.note(source.brings);
      found.parts.push(`\n\nContent of the resource ${uri} of the MCP server ${server}:\n`, ...parts);
    } catch (error) {
      signal.throwIfAborted();
      found.problems.push(`Could not read @${name}: ${errorMessage(error)}`);
    }
  }
  return found;
}

/** Punctuation at the end of a sentence is not part of the address. */
function withoutPunctuation(uri: string): string {
  return uri.replace(/[.,;!?)\]}]+$/, '');
}

function splitAt(text: string, index: number): [string, string] {
  return [text.slice(0, index), text.slice(index + 1)];
}
