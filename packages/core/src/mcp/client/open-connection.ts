import {
  Client,
  type ClientOptions,
  type ConnectOptions,
  ProtocolError,
  SdkError,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { ServerAuthorization } from '../auth/oauth.js';
import { boundedFetch } from './bounded-fetch.js';
import { outputValidator } from './output-validator.js';
import type { Reachable } from './reach-server.js';
import { answerServer, capabilitiesFor, type ReverseRequests } from './reverse-requests.js';
import { StdioTransport } from './stdio-transport.js';
import { strictMessages } from './strict-messages.js';

/** A connection to a server, with the handshake done. */
export interface Session {
  client: Client;
  /** What the server said on stderr and how it ended, for a person; empty when there is nothing to say. */
  epitaph(): string;
  /**
   * Does something that may need the person's authorization, and does it again once they gave it. When the server says
   * that it no longer knows the session, the connection is over.
   */
  authorized<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export interface SessionOptions {
  server: string;
  endpoint: Reachable;
  /** The workspace's folders, the only ones a server hears of. */
  roots: readonly string[];
  authorization?: ServerAuthorization;
  handlers: ReverseRequests;
  /** The protocol's era, when it is known; found out otherwise. */
  era?: Era;
  listChanged: NonNullable<ClientOptions['listChanged']>;
  /** The connection is over, whoever ended it. */
  onClose: (session: Session) => void;
  signal: AbortSignal;
  timeoutMs: number;
}

/** Sessions up to 2025-11-25, none since; or one revision and no other. */
export type Era = 'legacy' | { pin: string };

interface Attempt {
  transport: () => Transport;
  negotiation: Era | 'auto';
}

const modern = '2026-07-28';

/** How servers know us. */
export const clientInfo = { name: 'lathe', version: '0.1.0' };

/** Connects in the ways the endpoint allows, one after the other. The first failure is the one that is told. */
export async function openSession(options: SessionOptions): Promise<Session> {
  let first: unknown;
  await options.authorization?.listen();
  for (const attempt of attemptsFor(options)) {
    try {
      return await connectAuthorized(attempt, options);
    } catch (error) {
      first ??= error;
      if (options.signal.aborted || !isWorthAnotherWay(error)) break;
    }
  }
  throw first;
}

/** A transport that failed cannot be used again, but the tokens it got are there for the next one. */
async function connectAuthorized(attempt: Attempt, options: SessionOptions): Promise<Session> {
  let latest: Transport | undefined;
  const remembering: Attempt = {
    ...attempt,
    transport: () => {
      latest = attempt.transport();
      return latest;
    },
  };
  for (let round = 0; ; round++) {
    try {
      return await connect(remembering, options);
    } catch (error) {
      const answer = round < maxAuthorizations ? await options.authorization?.answer(options.signal) : undefined;
      if (answer === undefined || latest === undefined || !canFinish(latest)) throw error;
      await latest.finishAuth(answer);
    }
  }
}

async function connect({ transport: make, negotiation }: Attempt, options: SessionOptions): Promise<Session> {
  const { server, roots, handlers, signal, timeoutMs } = options;
  const raw = make();
  const { transport } = strictMessages(raw);
  const client = new Client(clientInfo, {
    capabilities: capabilitiesFor(handlers),
    jsonSchemaValidator: outputValidator,
    versionNegotiation: { mode: options.era ?? negotiation },
    listChanged: options.listChanged,
  });
  answerServer(client, { server, roots, handlers });
  // Errors beside the protocol (noise, unknown messages) are the server's problem; requests fail by themselves.
  const session: Session = {
    client,
    epitaph: () => epitaphOf(raw),
    authorized: async (work, during) => {
      try {
        return await authorized(work, raw, during, options.authorization);
      } catch (error) {
        if (isSessionOver(error)) await client.close();
        throw error;
      }
    },
  };
  Object.assign(client, { onerror: () => undefined });
  try {
    await client.connect(transport, connectOptions(signal, timeoutMs));
  } catch (error) {
    await transport.close().catch(() => undefined);
    throw explained(error, session.epitaph());
  }
  Object.assign(client, { onclose: () => options.onClose(session) });
  return session;
}

function connectOptions(signal: AbortSignal, timeoutMs: number): ConnectOptions {
  return { signal, timeout: timeoutMs, maxTotalTimeout: timeoutMs };
}

function attemptsFor(options: SessionOptions): Attempt[] {
  const { endpoint, authorization } = options;
  if (endpoint.type === 'stdio') {
    const transport = () => new StdioTransport(endpoint.start());
    // Nearly all servers speak the older era, and some die of a question they do not know: the newer one comes second.
    return [
      { transport, negotiation: 'legacy' },
      { transport, negotiation: { pin: modern } },
    ];
  }
  const { url, headers } = endpoint;
  const web = {
    fetch: boundedFetch(url),
    requestInit: { headers },
    ...(authorization && { authProvider: authorization }),
  };
  const http: Attempt = { transport: () => new StreamableHTTPClientTransport(url, web), negotiation: 'auto' };
  const sse: Attempt = { transport: () => new SSEClientTransport(url, web), negotiation: 'legacy' };
  return endpoint.type === 'http' ? [http, sse] : [sse, http];
}

/** More than this many questions for one thing, and the server is asking in circles. */
const maxAuthorizations = 2;

async function authorized<T>(
  work: () => Promise<T>,
  transport: Transport,
  signal: AbortSignal,
  authorization: ServerAuthorization | undefined,
): Promise<T> {
  for (let round = 0; ; round++) {
    try {
      return await work();
    } catch (error) {
      const answer = round < maxAuthorizations ? await authorization?.answer(signal) : undefined;
      if (answer === undefined || !canFinish(transport)) throw error;
      await transport.finishAuth(answer);
    }
  }
}

/** How servers on the web say it. */
function isSessionOver(error: unknown): boolean {
  return causesOf(error).some((cause) => cause instanceof SdkHttpError && cause.status === 404);
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

function canFinish(transport: Transport): transport is StreamableHTTPClientTransport | SSEClientTransport {
  return transport instanceof StreamableHTTPClientTransport || transport instanceof SSEClientTransport;
}

/** A server that answered "not like this" may answer another way; one that is silent or gone will not. */
function isWorthAnotherWay(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof ProtocolError) return true;
  if (cause instanceof SdkError)
    return /Http|EraNegotiation|SSE/i.test(`${cause.code} ${cause.name}`) && !isAuth(cause);
  return cause instanceof Error && /SSE error|status code|\b40[045]\b/i.test(cause.message);
}

function isAuth(error: SdkError): boolean {
  return /auth|40[13]/i.test(`${error.code} ${error.message}`);
}

function epitaphOf(transport: Transport): string {
  if (!(transport instanceof StdioTransport)) return '';
  const { exit, lastWords, noise, problem } = transport;
  const ending = exit?.type === 'exit' ? `exited with code ${exit.code}` : exit && `was killed by ${exit.signal}`;
  if (problem !== '') return problem;
  return [
    ending && `The server ${ending}.`,
    lastWords && `It said: ${lastWords.slice(-600)}`,
    noise > 0 && `${noise} lines of its output were no messages.`,
  ]
    .filter((sentence) => typeof sentence === 'string' && sentence !== '')
    .join(' ');
}

/** With the first cause, which "fetch failed" and its like keep to themselves, and what the server said. */
function explained(error: unknown, epitaph: string): unknown {
  const causes = causesOf(error);
  const [message = '', root = ''] = [causes[0]?.message, causes.at(-1)?.message];
  const whole = message.includes(root) ? message : `${message}: ${root}`;
  if (causes.length === 0 || (epitaph === '' && whole === message)) return error;
  return new Error(`${whole}${epitaph === '' ? '' : `. ${epitaph}`}`, { cause: error });
}
