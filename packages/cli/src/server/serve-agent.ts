import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ApiOperation, apiOperations, apiSchemas, openApi } from '@lathe/agent/client';
import { describeMismatch, type LoopbackServer, readBody, serveLoopback } from '@lathe/core/host';
import { type ApiBody, handlers, type OperationName } from './handlers.js';
import type { LiveOptions } from './live-session.js';
import { LiveSessions } from './live-sessions.js';
import { Rejection } from './rejection.js';

export interface ServeAgentOptions extends LiveOptions, Pick<LoopbackServer, 'port' | 'token' | 'onListening'> {
  /** The page at `/`. It holds no secrets, so it needs no token. */
  page?: () => Promise<string>;
}

/** As much as a prompt on stdin. */
const maxBodyBytes = 8 * 1024 * 1024;

/** Serves the agent to local programs that have the token until `signal` aborts. Nothing keeps running afterwards. */
export async function serveAgent(options: ServeAgentOptions, signal: AbortSignal): Promise<void> {
  const { io, page } = options;
  const sessions = new LiveSessions(options, signal);
  const isPublic = ({ method, url }: IncomingMessage) => page !== undefined && method === 'GET' && url === '/';
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (page && isPublic(request)) return sendPage(response, await page());
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
  await serveLoopback({ ...options, isPublic, handle, errorBody, log, close: () => sessions.closeAll() }, signal);
}

async function answer(request: IncomingMessage, response: ServerResponse, sessions: LiveSessions, signal: AbortSignal) {
  const { pathname, searchParams } = new URL(`http://localhost/${request.url?.slice(1)}`);
  if (request.method === 'GET' && pathname === '/openapi.json') return send(response, 200, JSON.stringify(openApi()));
  const { name, params } = findOperation(request.method ?? '', pathname);
  const operation: ApiOperation = apiOperations[name];
  const body = await bodyFor(operation, request);
  const { id = '', questionId = '' } = params;
  const lastEventId = lastEvent(request, searchParams);
  const result = await handlers[name]({ sessions, id, questionId, body, lastEventId, response, signal });
  if (operation.isStream) return;
  const json = typeof result === 'string' ? result : JSON.stringify(result);
  send(response, operation.status ?? (operation.result ? 200 : 204), json);
}

/** Patterns of the paths, in which `{name}` stands for any id. */
const paths = Object.keys(apiOperations)
  .filter((name): name is OperationName => name in handlers)
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
  const problem = describeMismatch(apiSchemas[body], parsed.value);
  if (problem !== null) throw new Rejection(400, problem);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema from which the type is made
  return parsed.value as ApiBody;
}

const errorBody = (message: string) => JSON.stringify({ error: { message } });

const commonHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

function send(response: ServerResponse, status: number, json?: string): void {
  if (json === undefined) response.writeHead(status).end();
  else response.writeHead(status, { ...commonHeaders, 'content-type': 'application/json' }).end(json);
}

function sendPage(response: ServerResponse, page: string): void {
  const headers = {
    ...commonHeaders,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  };
  response.writeHead(200, headers).end(page);
}
