import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import type { LatheHome } from '../../files/lathe-home.js';
import { PrivateStore } from '../../policy/private-store.js';

/** The credentials for one MCP server and one authorization server; a token is valid only for that pair. */
export interface Grant {
  client?: StoredOAuthClientInformation;
  tokens?: StoredOAuthTokens;
}

interface Entry {
  /** The URL of the MCP server. */
  server: string;
  issuer: string;
  grant: Grant;
}

/** Tokens of MCP servers in a private file, which is read each time because another Lathe may have renewed them. */
export class TokenStore {
  readonly #store: PrivateStore<Entry>;

  constructor(home: LatheHome) {
    this.#store = new PrivateStore(home, 'mcp-tokens.json', { key: 'grants', isEntry });
  }

  /** The grant from that issuer, or the one saved last; none if the file cannot be used. */
  async find(server: URL, issuer?: string): Promise<Grant | undefined> {
    const entries = (await this.#store.entries()).filter((entry) => entry.server === server.href);
    return entries.findLast((entry) => issuer === undefined || entry.issuer === issuer)?.grant;
  }

  async change(server: URL, issuer: string, change: (grant: Grant) => Grant): Promise<void> {
    await this.#store.update((entries) => {
      const isSame = (entry: Entry) => entry.server === server.href && entry.issuer === issuer;
      const grant = change(entries.find(isSame)?.grant ?? {});
      return [...entries.filter((entry) => !isSame(entry)), { server: server.href, issuer, grant }];
    });
  }

  /** Replaces each grant of a server by the part of it that `keep` returns. */
  async forget(server: URL, keep: (grant: Grant) => Grant): Promise<void> {
    if ((await this.#store.entries()).length === 0) return;
    await this.#store.update((entries) =>
      entries.map((entry) => (entry.server === server.href ? { ...entry, grant: keep(entry.grant) } : entry)),
    );
  }
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false;
  const { server, issuer, grant }: Partial<Record<keyof Entry, unknown>> = value;
  return typeof server === 'string' && typeof issuer === 'string' && typeof grant === 'object' && grant !== null;
}
