import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { parseBoundedJson } from '../../text/parse-json.js';
import { serveLoopback } from '../../web/server/serve-loopback.js';
import { createServer, type ServerFor, type ServerIdentity, type ServerSdk } from './create-server.js';
import { type Toolbox, ToolSession } from './tool-session.js';

export interface ServeHttpOptions extends ServerIdentity {
  /** Opens the tools of a session. */
  open: () => Promise<Toolbox>;
  /** 0 for any free one. */
  port: number;
  /** Names of the tools to offer; by default the built-in ones that work without an agent. */
  tools?: readonly string[];
  /** What every request must contain, at least 32 characters; by default a new random one. */
  token?: string;
  /** Receives the URL, and the token that every request must contain. */
  onListening: (url: string, token: string) => void;
  log: (message: string) => void;
  /** Creates the protocol server of a session; by default one that serves the tools. */
  serverFor?: ServerFor;
}

/** The only path of the server. */
const mcpPath = '/mcp';
const maxBodyBytes = 16 * 1024 * 1024;
const maxSessions = 16;

/** Serves local clients that have the token until `signal` aborts. Nothing keeps running afterwards. */
export async function serveHttp(options: ServeHttpOptions, signal: AbortSignal): Promise<void> {
  const { port, onListening, log, token } = options;
  const [handler, node] = await Promise.all([createHandler(options), import('@modelcontextprotocol/node')]);
  const handle = node.toNodeHandler(handler, {
    maxRequestBodySize: maxBodyBytes,
    onerror: ({ message }) => log(message),
  });
  const server = {
    port,
    ...(token !== undefined && { token }),
    onListening: (origin: string, secret: string) => onListening(`${origin}${mcpPath}`, secret),
    handle: async (request: IncomingMessage, response: ServerResponse) => {
      const { method = 'GET', url = '/' } = request;
      if (url.split('?')[0] === mcpPath) return handle(Object.assign(request, { method, url }), response);
      response.writeHead(404, { 'content-type': 'application/json', connection: 'close' });
      response.end(errorBody(`Not found; the path is ${mcpPath}`));
    },
    errorBody,
    log,
    close: () => handler.close(),
  };
  await serveLoopback(server, signal);
}

function errorBody(message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message } });
}

/** Since 2026-07-28 the protocol has no sessions, so those clients share one. Older clients have one each. */
async function createHandler(options: ServeHttpOptions) {
  const { open, log, serverFor = createServer } = options;
  const sdk = await import('@modelcontextprotocol/server');
  const sessions = new HttpSessions({ ...options, serverFor, sdk, maxSessions });
  let shared: Promise<ToolSession> | undefined;
  const modern = sdk.createMcpHandler(
    async () => {
      shared ??= open().then((toolbox) => new ToolSession(toolbox, options.tools));
      return serverFor(sdk, await shared, options);
    },
    { legacy: 'reject', onerror: ({ message }) => log(message) },
  );
  return {
    fetch: async (request: Request): Promise<Response> => {
      if (request.method !== 'POST') return sessions.fetch(request);
      const body = parseBoundedJson(await request.text());
      if (!body.ok)
        return refuse(400, `The message cannot be parsed: ${body.problem}`, sdk.ProtocolErrorCode.ParseError);
      const isLegacy = await sdk.isLegacyRequest(request, body.value);
      return isLegacy ? sessions.fetch(request, body.value) : modern.fetch(request, { parsedBody: body.value });
    },
    close: async (): Promise<void> => {
      await Promise.all([sessions.close(), modern.close(), shared?.then((session) => session.close())]);
    },
  };
}

export interface HttpSessionsOptions extends ServerIdentity {
  sdk: ServerSdk;
  serverFor: ServerFor;
  open: () => Promise<Toolbox>;
  tools?: readonly string[];
  maxSessions: number;
}

interface OpenSession {
  tools: ToolSession;
  transport: WebStandardStreamableHTTPServerTransport;
  closed: Promise<void>;
}

/** The sessions of clients up to 2025-11-25, each with its own tools. The least recently used one is closed for a new one. */
class HttpSessions {
  readonly #options: HttpSessionsOptions;
  /** By id, least recently used first. */
  readonly #sessions = new Map<string, OpenSession>();
  #opening: Promise<unknown> = Promise.resolve();

  constructor(options: HttpSessionsOptions) {
    this.#options = options;
  }

  /** `message` is the body of a request that has one. */
  async fetch(request: Request, message?: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    // Only a valid initialize request may close an older session.
    if (id === null && !this.#options.sdk.isInitializeRequest(message))
      return refuse(400, 'The request names no session');
    if (id === null) return this.#openNext(request, message);
    const session = this.#sessions.get(id);
    if (!session) return refuse(404, 'Session not found');
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session.transport.handleRequest(request, { parsedBody: message });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(endOf));
  }

  /** Opens sessions one at a time, so that each finds room. */
  #openNext(request: Request, message: unknown): Promise<Response> {
    const opened = this.#opening.then(() => this.#open(request, message));
    this.#opening = opened.catch(() => undefined);
    return opened;
  }

  async #open(request: Request, message: unknown): Promise<Response> {
    if (!(await this.#makeRoom())) return refuse(503, 'Too many sessions');
    const { sdk, open, serverFor } = this.#options;
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, session),
    });
    const tools = new ToolSession(await open(), this.#options.tools);
    const server = serverFor(sdk, tools, this.#options);
    const closed = new Promise<void>((resolve, reject) => {
      const onclose = () => {
        if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
        tools.close().then(resolve, reject);
      };
      Object.assign(server, { onclose });
    });
    const session: OpenSession = { tools, transport, closed };
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: message });
    // If the handshake failed, there is no session to keep.
    if (transport.sessionId === undefined) await endOf(session);
    return response;
  }

  async #makeRoom(): Promise<boolean> {
    if (this.#sessions.size < this.#options.maxSessions) return true;
    const idle = [...this.#sessions.values()].find(({ tools }) => !tools.isBusy);
    if (idle) await endOf(idle);
    return idle !== undefined;
  }
}

async function endOf({ transport, closed }: OpenSession): Promise<void> {
  await transport.close();
  await closed;
}

export function refuse(status: number, message: string, code = -32_000): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });
}
