import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ApiOperation, apiOperations, apiSchemas, openApi } from '@lathe/agent/client';
import type { JsonSchema } from '@lathe/core';
import { describeMismatch, readBody, serveLoopback } from '@lathe/core/host';
import type { Flags } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { type ApiBody, handlers, type OperationName } from './handlers.js';
import { LiveSessions } from './live-sessions.js';
import { Rejection } from './rejection.js';

export interface ServeAgentOptions {
  flags: Flags;
  io: Io;
  port: number;
  /** By default a new random one. */
  token?: string;
  onListening: (origin: string, token: string) => void;
  /** The page at `/`. It holds no secrets, so it needs no token. */
  page?: () => Promise<string>;
  absenceMs?: number;
}

/** As much as a prompt on stdin. */
const maxBodyBytes = 8 * 1024 * 1024;

/** Serves the agent to local programs that have the token until `signal` aborts. Nothing keeps running afterwards. */
export async function serveAgent(options: ServeAgentOptions, signal: AbortSignal): Promise<void> {
  const { io, port, token, onListening, page } = options;
  const sessions = new LiveSessions(options, signal);
  const isPage = ({ method, url }: IncomingMessage) => page !== undefined && method === 'GET' && url === '/';
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (page && isPage(request)) return sendPage(response, await page());
    try {
      await answer(request, response, sessions, signal);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      // What was not read of a body must not be taken for the next request.
      if (!request.complete) response.setHeader('connection', 'close');
      send(response, error.status, errorBody(error.message));
    }
  };
  const log = (message: string) => io.err(`lathe: ${message}`);
  const close = () => sessions.closeAll();
  const server = {
    port,
    ...(token !== undefined && { token }),
    onListening,
    isPublic: isPage,
    handle,
    errorBody,
    log,
    close,
  };
  await serveLoopback(server, signal);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  sessions: LiveSessions,
  signal: AbortSignal,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (request.method === 'GET' && pathname === '/openapi.json') return send(response, 200, JSON.stringify(openApi()));
  const { name, params } = findOperation(request.method ?? '', pathname);
  const operation: ApiOperation = apiOperations[name];
  const body = await bodyFor(operation, request);
  const { id = '', questionId = '' } = params;
  const result = await handlers[name]({
    sessions,
    id,
    questionId,
    body,
    lastEventId: lastEvent(request, searchParams),
    response,
    signal,
  });
  if (operation.isStream) return;
  send(
    response,
    operation.status ?? (operation.result ? 200 : 204),
    typeof result === 'string' ? result : JSON.stringify(result),
  );
}

const isOperation = (name: string): name is OperationName => name in handlers;

/** Patterns of the paths, in which `{name}` stands for any id. */
const paths = Object.keys(apiOperations)
  .filter(isOperation)
  .map((name) => {
    const { method, path } = apiOperations[name];
    return { name, method, pattern: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[\\w-]+)')}$`) };
  });

function findOperation(method: string, pathname: string): { name: OperationName; params: Record<string, string> } {
  const here = paths.filter(({ pattern }) => pattern.test(pathname));
  const found = here.find((each) => each.method === method);
  if (found) return { name: found.name, params: { ...found.pattern.exec(pathname)?.groups } };
  if (here.length === 0) throw new Rejection(404, 'Not found; /openapi.json lists what there is');
  throw new Rejection(405, `Use ${here.map((each) => each.method).join(' or ')} here`);
}

/** The last event that the reader has; 0 for none. */
function lastEvent({ headers }: IncomingMessage, query: URLSearchParams): number {
  const after = Number(headers['last-event-id'] ?? query.get('after') ?? 0);
  return Number.isSafeInteger(after) && after > 0 ? after : 0;
}

async function bodyFor({ body, isBodyOptional }: ApiOperation, request: IncomingMessage): Promise<ApiBody> {
  // Without a body nothing is read, so a long one ends with the connection.
  if (body === undefined) return {};
  const parsed = await readBody(request, maxBodyBytes);
  if (parsed === 'too-long') throw new Rejection(413, `The body has more than ${maxBodyBytes} bytes`);
  if (!parsed.ok) throw new Rejection(400, `The body cannot be parsed: ${parsed.problem}`);
  if (parsed.value === undefined && isBodyOptional) return {};
  // A page of another origin can send forms and plain text without asking, but not JSON.
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
    throw new Rejection(415, 'The body must be JSON, with the content type application/json');
  const { value } = parsed;
  assertFits(apiSchemas[body], value);
  return value;
}

function assertFits(schema: JsonSchema, value: unknown): asserts value is ApiBody {
  const problem = describeMismatch(schema, value);
  if (problem !== null) throw new Rejection(400, problem);
}

function errorBody(message: string): string {
  return JSON.stringify({ error: { message } });
}

function send(response: ServerResponse, status: number, json?: string): void {
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  if (json === undefined) response.writeHead(status).end();
  else response.writeHead(status, headers).end(json);
}

function sendPage(response: ServerResponse, page: string): void {
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  response.end(page);
}
