import type { ClientOptions, JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import {
  Client,
  ProtocolError,
  SdkError,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { describeMismatch } from '../../text/schema/json-schema.js';
import { schemaProblem } from '../../text/schema/schema-check.js';
import type { ServerAuthorization } from '../auth/oauth.js';
import { boundedFetch } from './bounded-fetch.js';
import type { Reachable } from './reach-server.js';
import { answerServer, capabilitiesFor, type ReverseRequests } from './reverse-requests.js';
import { StdioTransport } from './stdio-transport.js';

/** A connection to a server after the handshake. */
export interface Connection {
  client: Client;
  /** How the server ended and the last lines of its stderr, for the user; empty when neither is known. */
  exitSummary(): string;
  /**
   * Runs work that may need the user to log in, and runs it again after the login. Closes the connection when the server
   * reports that it no longer knows the session.
   */
  authorized<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export interface ConnectionOptions {
  server: string;
  endpoint: Reachable;
  /** The folders of the workspace, the only ones that servers get to know. */
  roots: readonly string[];
  authorization?: ServerAuthorization;
  handlers: ReverseRequests;
  /** The era of the protocol; negotiated by default. */
  era?: Era;
  listChanged: NonNullable<ClientOptions['listChanged']>;
  /** Called when the connection ends, whichever side ended it. */
  onClose: (connection: Connection) => void;
  signal: AbortSignal;
  timeoutMs: number;
}

/** Protocol revisions up to 2025-11-25, which have sessions, or exactly one revision. */
export type Era = 'legacy' | { pin: string };

interface Attempt {
  transport: () => Transport;
  negotiation: Era | 'auto';
}

const modern = '2026-07-28';

/** How Lathe introduces itself to servers. */
export const clientInfo = { name: 'lathe', version: '0.1.0' };

/** Tries the transports and protocol eras that fit the endpoint in turn. If all fail, throws the first error. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  let first: unknown;
  await options.authorization?.listen();
  for (const attempt of attemptsFor(options)) {
    try {
      return await connectAuthorized(attempt, options);
    } catch (error) {
      first ??= error;
      if (options.signal.aborted || !mayWorkOtherwise(error)) break;
    }
  }
  throw first;
}

/** Each try needs a new transport; the tokens that a failed one received are kept for the next. */
function connectAuthorized({ transport, negotiation }: Attempt, options: ConnectionOptions): Promise<Connection> {
  let latest: Transport | undefined;
  return withLogin(
    () => {
      latest = transport();
      return connect(latest, negotiation, options);
    },
    () => latest,
    options.signal,
    options.authorization,
  );
}

async function connect(raw: Transport, negotiation: Attempt['negotiation'], options: ConnectionOptions) {
  const { server, roots, handlers, signal, timeoutMs, authorization } = options;
  const transport = strictMessages(raw);
  const client = new Client(clientInfo, {
    capabilities: capabilitiesFor(handlers),
    jsonSchemaValidator: outputValidator,
    versionNegotiation: { mode: options.era ?? negotiation },
    listChanged: options.listChanged,
  });
  answerServer(client, { server, roots, handlers });
  const connection: Connection = {
    client,
    exitSummary: () => exitSummaryOf(raw),
    authorized: (work, during) =>
      withLogin(work, () => raw, during, authorization).catch(async (error: unknown) => {
        if (isSessionOver(error)) await client.close();
        throw error;
      }),
  };
  // Noise and unknown messages need no report; a request that fails rejects by itself.
  Object.assign(client, { onerror: () => undefined });
  try {
    await client.connect(transport, { signal, timeout: timeoutMs, maxTotalTimeout: timeoutMs });
  } catch (error) {
    await transport.close().catch(() => undefined);
    throw explained(error, connection.exitSummary());
  }
  Object.assign(client, { onclose: () => options.onClose(connection) });
  return connection;
}

function attemptsFor({ endpoint, authorization }: ConnectionOptions): Attempt[] {
  if (endpoint.type === 'stdio') {
    const transport = () => new StdioTransport(endpoint.start());
    // Most servers use the older era, and some exit when they get an unknown request, so the newer era comes second.
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

/** A server that asks for more logins than this for one request is asking in circles. */
const maxLogins = 2;

/** Runs `work` again whenever a failure made the user log in. */
async function withLogin<T>(
  work: () => Promise<T>,
  transportOf: () => Transport | undefined,
  signal: AbortSignal,
  authorization: ServerAuthorization | undefined,
): Promise<T> {
  for (let round = 0; ; round++) {
    try {
      return await work();
    } catch (error) {
      const answer = round < maxLogins ? await authorization?.answer(signal) : undefined;
      const transport = transportOf();
      const isWeb = transport instanceof StreamableHTTPClientTransport || transport instanceof SSEClientTransport;
      if (answer === undefined || !isWeb) throw error;
      await transport.finishAuth(answer);
    }
  }
}

/** Web servers answer 404 when a session has ended. */
function isSessionOver(error: unknown): boolean {
  return causesOf(error).some((cause) => cause instanceof SdkHttpError && cause.status === 404);
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

/** A server that rejected the request may accept another transport or era; a silent or dead one will not. */
function mayWorkOtherwise(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof ProtocolError) return true;
  if (cause instanceof SdkError) {
    const isAuth = /auth|40[13]/i.test(`${cause.code} ${cause.message}`);
    return /Http|EraNegotiation|SSE/i.test(`${cause.code} ${cause.name}`) && !isAuth;
  }
  return cause instanceof Error && /SSE error|status code|\b40[045]\b/i.test(cause.message);
}

function exitSummaryOf(transport: Transport): string {
  if (!(transport instanceof StdioTransport)) return '';
  const { exit, stderrTail, noise, problem } = transport;
  if (problem !== '') return problem;
  const ending = exit?.type === 'exit' ? `exited with code ${exit.code}` : exit && `was killed by ${exit.signal}`;
  return [
    ending && `The server ${ending}.`,
    stderrTail && `It said: ${stderrTail.slice(-600)}`,
    noise > 0 && `${noise} lines of its output were not messages.`,
  ]
    .filter((sentence) => typeof sentence === 'string' && sentence !== '')
    .join(' ');
}

/** Adds the root cause, which errors such as "fetch failed" do not show, and the exit summary of the server. */
function explained(error: unknown, exitSummary: string): unknown {
  const causes = causesOf(error);
  const [message = '', root = ''] = [causes[0]?.message, causes.at(-1)?.message];
  const whole = message.includes(root) ? message : `${message}: ${root}`;
  if (causes.length === 0 || (exitSummary === '' && whole === message)) return error;
  return new Error(`${whole}${exitSummary === '' ? '' : `. ${exitSummary}`}`, { cause: error });
}

/**
 * Checks structured results with our bounded validator, because a pattern of a hostile server must not block the
 * program. A schema that we cannot use is not checked; results are never trusted anyway.
 */
const outputValidator: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: (schema) => {
    const isUsable = schemaProblem(schema) === null;
    return (input) => {
      const mismatch = isUsable ? describeMismatch(schema, input) : null;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the type its schema stands for
      if (mismatch === null) return { valid: true, data: input as never, errorMessage: undefined };
      return { valid: false, data: undefined, errorMessage: mismatch };
    };
  },
};

/**
 * Passes on a response only if its id equals that of an open request, type included: the SDK treats `"1"` as `1`, so it
 * could match the response to another request. Drops duplicate, late and unrequested responses.
 */
function strictMessages<T extends Transport>(transport: T): T {
  const open = new Set<RequestId>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ('method' in message && 'id' in message) open.add(message.id);
    return send(withoutEmptyCursor(message), options);
  };
  const accepts = (message: JSONRPCMessage): boolean =>
    'method' in message || (message.id !== undefined && open.delete(message.id));
  let handler: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => handler,
    set: (next: Transport['onmessage']) => {
      handler = next && ((message, extra) => (accepts(message) ? next(message, extra) : undefined));
    },
  });
  return transport;
}

/** The SDK fetches a single page only if the caller passes a cursor, and the first page has none. */
function withoutEmptyCursor(message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message) || message.params?.['cursor'] !== '') return message;
  const { cursor: _, ...params } = message.params;
  return { ...message, params };
}
