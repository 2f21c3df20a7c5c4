import { type AgentLathe } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { ServerLists } from '../mcp/server-lists.js';
import { type Candidate, maxCandidates } from './completions.js';

/** A resource that can be mentioned, and the lower-case text to search. */
interface Mention {
  text: string;
  candidate: Candidate;
}

/** The resources of the MCP servers as `@server:uri`. */
export function resourceMentions(
  lathe: Pick<AgentLathe, 'tools' | 'sources'>,
  signal: AbortSignal,
): ServerLists<Mention> {
  return new ServerLists(lathe, 'resources', async (source) =>
    (await source.resources(signal)).map(({ uri, title }) => {
      const mention = `${source.client.serverName}:${uri}`;
      return {
        text: `${mention} ${title}`.toLowerCase(),
        candidate: { label: visibleText(mention), detail: visibleText(title), insert: `@${mention} ` },
      };
    }),
  );
}

/** The resources with the query in their address or title; none for an empty query. */
export function matchingMentions(mentions: readonly Mention[], query: string): Candidate[] {
  const wanted = query.toLowerCase();
  if (wanted === '') return [];
  return mentions
    .filter(({ text }) => text.includes(wanted))
    .slice(0, maxCandidates)
    .map(({ candidate }) => candidate);
}
