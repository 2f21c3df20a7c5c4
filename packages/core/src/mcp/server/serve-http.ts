import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseBoundedJson } from '../../text/parse-json.js';
import { serveLoopback } from '../../web/server/serve-loopback.js';
import { createServer, type ServerFor, type ServerIdentity } from './create-server.js';
import { HttpSessions, refuse } from './http-sessions.js';
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
