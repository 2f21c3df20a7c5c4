import { once } from 'node:events';
import { createServer as createHttpServer, type Server, type ServerResponse } from 'node:http';
import { parseBoundedJson } from '../../text/parse-json.js';
import { mcpPath, newToken, type Refusal, refusalOf, tokenProblem } from './access-check.js';
import { ConnectionLimit } from './connection-limit.js';
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

const loopback = '127.0.0.1';
const maxBodyBytes = 16 * 1024 * 1024;
const maxSessions = 16;
const headersMs = 10_000;
const requestMs = 60_000;

/** Serves local clients that have the token until `signal` aborts. Nothing keeps running afterwards. */
export async function serveHttp(options: ServeHttpOptions, signal: AbortSignal): Promise<void> {
  const { port: wanted, onListening, log, token = newToken() } = options;
  const problem = tokenProblem(token);
  if (problem !== undefined) throw new Error(problem);
  const [handler, node] = await Promise.all([createHandler(options), import('@modelcontextprotocol/node')]);
  const handle = node.toNodeHandler(handler, {
    maxRequestBodySize: maxBodyBytes,
    onerror: ({ message }) => log(message),
  });
  const http = createHttpServer({ headersTimeout: headersMs, requestTimeout: requestMs });
  const connections = new ConnectionLimit(http);
  try {
    const port = await listen(http, wanted);
    http.on('request', (request, response) => {
      const refusal = refusalOf(request, { port, token });
      if (refusal) return reject(response, refusal);
      const { socket } = request;
      if (!connections.enter(socket)) return reject(response, { status: 503, message: 'Too many connections' });
      response.once('close', () => connections.leave(socket));
      const { method = 'GET', url = '/' } = request;
      handle(Object.assign(request, { method, url }), response).catch((error: unknown) => log(String(error)));
    });
    onListening(`http://${loopback}:${port}${mcpPath}`, token);
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    http.close();
    await handler.close();
    http.closeAllConnections();
  }
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

async function listen(http: Server, wanted: number): Promise<number> {
  http.listen(wanted, loopback);
  await once(http, 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

function reject(response: ServerResponse, { status, message }: Refusal): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    connection: 'close',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message } }));
}
