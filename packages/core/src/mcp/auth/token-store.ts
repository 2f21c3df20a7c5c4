import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import type { LatheHome } from '../../files/lathe-home.js';
import { PrivateStore } from '../../policy/private-store.js';

/** What is kept for one server and one authorization server: a token is good for that pair alone. */
export interface Grant {
  client?: StoredOAuthClientInformation;
  tokens?: StoredOAuthTokens;
}

interface Entry {
  /** The address of the MCP server. */
  server: string;
  issuer: string;
  grant: Grant;
}

/** Tokens of MCP servers: a private file, read anew each time because another Lathe may have renewed them. */
export class TokenStore {
  readonly #store: PrivateStore;

  constructor(home: LatheHome) {
    this.#store = new PrivateStore(home, 'mcp-tokens.json');
  }

  /** The grant from that issuer, or the one saved last; an unreadable file counts as none. */
  async find(server: URL, issuer?: string): Promise<Grant | undefined> {
    const content = await this.#store.read();
    if (content.status === 'unusable') return undefined;
    const entries = entriesOf(content.data).filter((entry) => entry.server === server.href);
    return entries.findLast((entry) => issuer === undefined || entry.issuer === issuer)?.grant;
  }

  async change(server: URL, issuer: string, change: (grant: Grant) => Grant): Promise<void> {
    await this.#store.update((data) => {
      const entries = entriesOf(data);
      const isSame = (entry: Entry) => entry.server === server.href && entry.issuer === issuer;
      const grant = change(entries.find(isSame)?.grant ?? {});
      return {
        version: 1,
        grants: [...entries.filter((entry) => !isSame(entry)), { server: server.href, issuer, grant }],
      };
    });
  }

  /** Forgets what `isStale` says of this server's grants. */
  async forget(server: URL, isStale: (grant: Grant) => Grant): Promise<void> {
    const content = await this.#store.read();
    if (content.status === 'unusable' || entriesOf(content.data).length === 0) return;
    await this.#store.update((data) => ({
      version: 1,
      grants: entriesOf(data).map((entry) =>
        entry.server === server.href ? { ...entry, grant: isStale(entry.grant) } : entry,
      ),
    }));
  }
}

function entriesOf(data: unknown): Entry[] {
  if (typeof data !== 'object' || data === null || !('grants' in data) || !Array.isArray(data.grants)) return [];
  return data.grants.filter(isEntry);
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false;
  const { server, issuer, grant }: Partial<Record<keyof Entry, unknown>> = value;
  return typeof server === 'string' && typeof issuer === 'string' && typeof grant === 'object' && grant !== null;
}
