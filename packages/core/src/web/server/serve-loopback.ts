import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ParsedJson, parseBoundedJson } from '../../text/parse-json.js';
import { newToken, type Refusal, refusalOf, tokenProblem } from './access-check.js';

/** What runs behind the guards. */
export interface LoopbackServer {
  /** 0 for any free one. */
  port: number;
  /** What every request must contain, at least 32 characters; by default a new random one. */
  token?: string;
  /** Receives the origin, such as `http://127.0.0.1:4096`, and the token. */
  onListening: (origin: string, token: string) => void;
  /** Whether a request needs no token. It must get the same answer for everybody, and change nothing. */
  isPublic?: (request: IncomingMessage) => boolean;
  /** Answers a request that passed. */
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;
  /** The body of an error response, as JSON. */
  errorBody: (message: string) => string;
  log: (message: string) => void;
  /** Ends the work in progress, before the connections are closed. */
  close: () => Promise<unknown>;
}

const loopback = '127.0.0.1';
const headersMs = 10_000;
const requestMs = 60_000;

/** Serves local programs that have the token until `signal` aborts. Nothing keeps running afterwards. */
export async function serveLoopback(server: LoopbackServer, signal: AbortSignal): Promise<void> {
  const { onListening, token = newToken() } = server;
  const problem = tokenProblem(token);
  if (problem !== undefined) throw new Error(problem);
  const http = createServer({ headersTimeout: headersMs, requestTimeout: requestMs });
  const connections = new ConnectionLimit(http);
  try {
    const port = await listen(http, server.port);
    http.on('request', (request, response) => {
      const isPublic = server.isPublic?.(request) ?? false;
      const refusal = refusalOf(request, { port, token }, { isPublic });
      if (refusal) return reject(response, refusal, server);
      // A public answer is short, so its connection stays among those that may be closed at any time.
      if (!isPublic && !enter(connections, request, response))
        return reject(response, { status: 503, message: 'Too many connections' }, server);
      server.handle(request, response).catch((error: unknown) => fail(response, error, server));
    });
    onListening(`http://${loopback}:${port}`, token);
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    http.close();
    await server.close();
    http.closeAllConnections();
  }
}

function enter(connections: ConnectionLimit, { socket }: IncomingMessage, response: ServerResponse): boolean {
  if (!connections.enter(socket)) return false;
  response.once('close', () => connections.leave(socket));
  return true;
}

async function listen(http: Server, wanted: number): Promise<number> {
  http.listen(wanted, loopback);
  await once(http, 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

function reject(
  response: ServerResponse,
  { status, message }: Refusal,
  { errorBody }: Pick<LoopbackServer, 'errorBody'>,
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    connection: 'close',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  });
  response.end(errorBody(message));
}

function fail(response: ServerResponse, error: unknown, { log, errorBody }: LoopbackServer): void {
  log(String(error));
  if (response.headersSent) return void response.destroy();
  response.writeHead(500, { 'content-type': 'application/json', connection: 'close' });
  response.end(errorBody('The server failed; its log says why'));
}

/** Above the listen backlog of 511, so that a burst cannot close a connection before its first request was checked. */
const maxUnauthenticated = 512;
const maxAuthenticated = 256;

/**
 * Limits the connections. Those without the token are counted separately, and the oldest of them is closed for a new one,
 * so a client without the token can never displace one that has it.
 */
class ConnectionLimit {
  readonly #unauthenticated = new Set<Socket>();
  /** Connections with the token and the number of their open requests, least recently used first. */
  readonly #authenticated = new Map<Socket, number>();

  constructor(http: Server) {
    http.on('connection', (socket: Socket) => {
      socket.once('close', () => this.#forget(socket));
      this.#unauthenticated.add(socket);
      const [oldest] = this.#unauthenticated;
      if (this.#unauthenticated.size > maxUnauthenticated) oldest?.destroy();
    });
  }

  /** Counts a request with the token; false when every connection is busy. */
  enter(socket: Socket): boolean {
    this.#unauthenticated.delete(socket);
    if (!this.#authenticated.has(socket) && this.#authenticated.size >= maxAuthenticated && !this.#makeRoom())
      return false;
    this.#use(socket, 1);
    return true;
  }

  /** Counts the end of a request. */
  leave(socket: Socket): void {
    if (this.#authenticated.has(socket)) this.#use(socket, -1);
  }

  #use(socket: Socket, change: number): void {
    const requests = (this.#authenticated.get(socket) ?? 0) + change;
    this.#authenticated.delete(socket);
    this.#authenticated.set(socket, requests);
  }

  #makeRoom(): boolean {
    for (const [socket, requests] of this.#authenticated) {
      if (requests > 0) continue;
      this.#forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  #forget(socket: Socket): void {
    this.#unauthenticated.delete(socket);
    this.#authenticated.delete(socket);
  }
}

/** The body of a request as JSON; its value is `undefined` if it has none. Reads no more than `maxBytes`. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<ParsedJson | 'too-long'> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return 'too-long';
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) return 'too-long';
    chunks.push(chunk);
  }
  return length === 0 ? { ok: true, value: undefined } : parseBoundedJson(Buffer.concat(chunks).toString('utf8'));
}
