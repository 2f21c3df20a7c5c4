import { type AgentLathe } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { ServerLists } from '../mcp/server-lists.js';
import { type Candidate, maxCandidates } from './completions.js';

/** A resource that can be mentioned, and what a query is looked for in. */
interface Mention {
  text: string;
  candidate: Candidate;
}

/** The resources of the servers, as `@server:uri`. */
export function resourceMentions(lathe: AgentLathe, signal: AbortSignal): ServerLists<Mention> {
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

/** The resources with the query in their address or title; none before anything is typed. */
export function mentionsLike(mentions: readonly Mention[], query: string): Candidate[] {
  const wanted = query.toLowerCase();
  if (wanted === '') return [];
  return mentions
    .filter(({ text }) => text.includes(wanted))
    .slice(0, maxCandidates)
    .map(({ candidate }) => candidate);
}
