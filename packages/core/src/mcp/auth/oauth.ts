import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { McpServerSettings } from '../../settings/mcp-server-shape.js';
import { checkAddress } from '../client/bounded-fetch.js';
import type { TokenStore } from './token-store.js';

export interface AuthorizationOptions {
  /** The MCP server. */
  server: URL;
  name: string;
  settings: NonNullable<McpServerSettings['oauth']>;
  store: TokenStore;
  /** Opens the login page; without it, a server that needs a login fails with a hint. */
  openPage?: (url: URL) => Promise<void>;
}

/** Timeout of a login. */
export const loginMs = 600_000;

/** OAuth for one server: PKCE, a random state, and tokens in a private file that are bound to the server and the issuer. */
export class ServerAuthorization implements OAuthClientProvider {
  /** A client id that is a URL refers to a public document about the client. */
  readonly clientMetadataUrl?: string;
  readonly #options: AuthorizationOptions;
  #callback: CallbackServer | undefined;
  #state = '';
  #verifier = '';
  #visit: Promise<URLSearchParams> | undefined;
  #presented: string | undefined;
  #discovered: OAuthDiscoveryState | undefined;
  /** The authorization server of the pending login. */
  #pending: OAuthDiscoveryState | undefined;

  constructor(options: AuthorizationOptions) {
    this.#options = options;
    const { clientId } = options.settings;
    if (clientId?.startsWith('https://')) this.clientMetadataUrl = clientId;
  }

  /** Starts the callback server. Must be awaited before the first request if the user may log in. */
  async listen(): Promise<void> {
    if (this.#options.openPage === undefined || this.#callback !== undefined) return;
    const fixed = this.#options.settings.redirectUri;
    this.#callback = await openCallbackServer(fixed === undefined ? 0 : Number(new URL(fixed).port));
  }

  close(): void {
    this.#callback?.close();
    this.#callback = undefined;
  }

  /** The parameters of the browser's redirect, if a login page was opened since the last call. */
  async answer(signal: AbortSignal): Promise<URLSearchParams | undefined> {
    const visit = this.#visit;
    this.#visit = undefined;
    if (visit === undefined) return undefined;
    const over = new AbortController();
    // This timer keeps Lathe running during a login; the callback server does not.
    const late = wait(loginMs, undefined, { signal: AbortSignal.any([signal, over.signal]) });
    try {
      return await Promise.race([visit, late]);
    } finally {
      late.catch(() => undefined);
      over.abort();
    }
  }

  get redirectUrl(): string {
    return this.#options.settings.redirectUri ?? this.#callback?.url ?? 'http://127.0.0.1/callback';
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scopes, clientSecret } = this.#options.settings;
    return {
      client_name: 'Lathe',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: clientSecret === undefined ? 'none' : 'client_secret_post',
      ...(scopes && { scope: scopes.join(' ') }),
    };
  }

  state(): string {
    this.#state = randomBytes(32).toString('base64url');
    return this.#state;
  }

  async clientInformation(ctx?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
    const { settings, store, server } = this.#options;
    const { clientId, clientSecret } = settings;
    if (clientId !== undefined && this.clientMetadataUrl === undefined)
      return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
    const client = (await store.find(server, ctx?.issuer))?.client;
    // A registration for another port would redirect the browser to a port that nobody listens on.
    const uris: unknown = client && 'redirect_uris' in client ? client.redirect_uris : undefined;
    const isReachable = this.#callback === undefined || !Array.isArray(uris) || uris.includes(this.redirectUrl);
    if (client === undefined && this.#callback === undefined) throw this.#loginNeeded();
    return isReachable ? client : undefined;
  }

  async saveClientInformation(
    client: StoredOAuthClientInformation,
    ctx?: OAuthClientInformationContext,
  ): Promise<void> {
    const { store, server } = this.#options;
    await store.change(server, ctx?.issuer ?? '', (grant) => ({ ...grant, client }));
  }

  async tokens(ctx?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    const { store, server } = this.#options;
    const tokens = (await store.find(server, ctx?.issuer))?.tokens;
    this.#presented = tokens?.refresh_token ?? tokens?.access_token;
    return tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens, ctx?: OAuthClientInformationContext): Promise<void> {
    this.#pending = undefined;
    const { store, server } = this.#options;
    await store.change(server, ctx?.issuer ?? tokens.issuer ?? '', (grant) => ({ ...grant, tokens }));
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const { openPage, server } = this.#options;
    await checkAddress(url, server);
    if (openPage === undefined || this.#callback === undefined) throw this.#loginNeeded();
    this.#pending = this.#discovered;
    this.#visit = this.#callback.visit(this.#state);
    await openPage(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  /** Keeps tokens that another Lathe has renewed meanwhile: they are not the rejected ones. */
  async invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    const { store, server } = this.#options;
    this.#pending = undefined;
    if (scope === 'verifier') this.#verifier = '';
    if (scope === 'verifier' || scope === 'discovery') return;
    const rejected = this.#presented;
    await store.forget(server, ({ client, tokens }) => {
      const isRejected = (tokens?.refresh_token ?? tokens?.access_token) === rejected;
      return {
        ...(client && scope === 'tokens' && { client }),
        ...(tokens && scope !== 'client' && !isRejected && { tokens }),
      };
    });
  }

  #loginNeeded(): Error {
    return new Error(`it requires a login: run lathe mcp auth ${this.#options.name}`);
  }

  /** Kept during a login, so that the code goes to the server that issued it. */
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }

  /** URLs from the settings replace those that a server would announce. */
  discoveryState(): OAuthDiscoveryState | undefined {
    const { authorizationUrl, tokenUrl } = this.#options.settings;
    if (authorizationUrl === undefined || tokenUrl === undefined) return this.#pending;
    const issuer = new URL(authorizationUrl).origin;
    return {
      authorizationServerUrl: issuer,
      authorizationServerMetadata: {
        issuer,
        authorization_endpoint: authorizationUrl,
        token_endpoint: tokenUrl,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      },
    };
  }
}

/** The local server that the browser is redirected to after a login. */
export interface CallbackServer {
  url: string;
  /** The parameters of the first request with this `state`; every other request is rejected. */
  visit(state: string): Promise<URLSearchParams>;
  close(): void;
}

const path = '/callback';

/** Listens on loopback, on the given port or any free one. */
export async function openCallbackServer(port = 0): Promise<CallbackServer> {
  const expected = new Map<string, (params: URLSearchParams) => void>();
  const server = createServer((request, response) => {
    const url = new URL(`http://127.0.0.1/${request.url?.slice(1)}`);
    const arrive = expected.get(url.searchParams.get('state') ?? '');
    const isExpected = url.pathname === path && request.method === 'GET' && arrive !== undefined;
    response.writeHead(isExpected ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
    response.end(isExpected ? 'Done. You can close this page and go back to Lathe.\n' : 'Nothing here.\n');
    if (isExpected) arrive(url.searchParams);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  server.unref();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server listening on a port has such an address
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${actual}${path}`,
    visit: (state) => new Promise((resolve) => expected.set(state, resolve)),
    // Unused connections that browsers open in advance would keep Lathe running.
    close: () => server.close().closeAllConnections(),
  };
}
