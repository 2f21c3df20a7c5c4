import { randomUUID } from 'node:crypto';
import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { ServerFor, ServerIdentity, ServerSdk } from './create-server.js';
import { type Toolbox, ToolSession } from './tool-session.js';

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
export class HttpSessions {
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
